"""LIAR: six-level PolitiFact statements."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Address, Bundle, Card, Entry, Loaded, Table, meta_column

COLUMNS = [
    "file_id",
    "label",
    "statement",
    "subjects",
    "speaker",
    "job",
    "state",
    "party",
    "barely_true",
    "false",
    "half_true",
    "mostly_true",
    "pants_fire",
    "context",
]
SPLITS = {"train": "train", "valid": "dev", "test": "test"}


def load(bundle: Bundle) -> Loaded:
    """Three TSV files without header. Quotes are part of the text: read with ordinary quoting, 45
    rows vanish.
    """
    parts = []
    for stem, split in SPLITS.items():
        table = Table.read(
            bundle, bundle.one(f"{stem}.tsv"), delimiter="\t", quoted=False, columns=COLUMNS
        )
        parts.append(table.pick(COLUMNS).with_columns(split=pl.lit(split)))
    raw = pl.concat(parts)
    records = raw.select(
        id="liar-" + pl.col("file_id").str.strip_suffix(".json"),
        text="statement",
        kind=pl.lit("claim"),
        label_raw="label",
        author="speaker",
        source="context",
        topic="subjects",
        split="split",
        meta=meta_column(raw, ["job", "state", "party", *COLUMNS[8:13]]),
    )
    return Loaded(records)


A5 = {
    "true": "true",
    "mostly-true": "true",
    "half-true": "mixed",
    "barely-true": "false",
    "false": "false",
    "pants-fire": "false",
}

DATASET = Entry(
    card=Card(
        name="liar",
        title="LIAR",
        summary=(
            "Short political statements with PolitiFact's six-level rating, speaker, party and"
            " context."
        ),
        size=12_836,
        modality=("claims",),
        topic="Politics",
        region="USA",
        languages=("eng",),
        time_start="2007",
        time_end="2016",
        labelling="Human expert",
        licence="research only",
        access="Download liar_dataset.zip from the author's page at UC Santa Barbara.",
        homepage="https://www.cs.ucsb.edu/~william/data/liar_dataset.zip",
        download=Address(url="https://www.cs.ucsb.edu/~william/data/liar_dataset.zip"),
        citation=(
            "Wang (2017), 'Liar, Liar Pants on Fire': A New Benchmark Dataset for Fake News"
            " Detection, ACL."
        ),
        errata=(
            (
                "Read with ordinary quoting, 45 of the 12,836 rows vanish: quotes are part of the"
                " text."
            ),
            (
                "The guide's scripts count 'barely-true' as true, against the guide's own rule A.5"
                " (PolitiFact renamed it 'mostly false'); its label shares only reproduce that way"
                " (map 'cdl')."
            ),
            "The credit-history counts include the statement itself, so they leak the label.",
        ),
        factchecks=True,
    ),
    maps={"a5": A5, "cdl": {**A5, "barely-true": "true"}, "cdl-time": {**A5, "half-true": "true"}},
    variants={"statements": load},
    real_rows={"statements": 12_836},
    real_labels={
        "half-true": 2_638,
        "false": 2_511,
        "mostly-true": 2_466,
        "barely-true": 2_108,
        "true": 2_063,
        "pants-fire": 1_050,
    },
)
