"""X-Fact: claims in 25 languages from fact-checking sites, on one seven-level scale, with evidence
from a search engine.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.catalog.datasets._guide import guide
from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Table,
    UnreadableFile,
    dated,
    languages,
    numbered,
)

SPLITS = {
    "train": "train.all.tsv",
    "dev": "dev.all.tsv",
    "test": "test.all.tsv",
    "ood": "ood.tsv",
    "zeroshot": "zeroshot.tsv",
}
NO_EVIDENCE = "<DUMMY_EVIDENCE>"


def load(bundle: Bundle) -> Loaded:
    """The 25 languages of the benchmark: `data/x-fact/`, or the release on the Hugging Face Hub."""
    return _load(
        bundle,
        ("x-fact/{tsv}", "{tsv}", "all_languages/{split}-*.csv", "all_languages/{split}-*.parquet"),
    )


def load_with_english(bundle: Bundle) -> Loaded:
    """The same with PolitiFact's English claims added to the training part:
    `data/x-fact-including-en/`.
    """
    return _load(bundle, ("x-fact-including-en/{tsv}",))


def _load(bundle: Bundle, patterns: Sequence[str]) -> Loaded:
    """Tab-separated without quoting, as its authors read it; the copy on the Hub is ordinary
    CSV.
    """
    records, evidence = [], []
    for split, tsv in SPLITS.items():
        name = next(
            (m[0] for p in patterns if (m := bundle.match(p.format(tsv=tsv, split=split)))), None
        )
        if name is None:
            continue
        tabs = name.lower().endswith("tsv")
        raw = Table.read(bundle, name, delimiter="\t" if tabs else None, quoted=not tabs)
        part = _records(raw, split)
        records.append(part)
        evidence.append(_evidence(raw, part["id"]))
    if not records:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no file like"
            f" '{patterns[0].format(tsv='train.all.tsv', split='train')}'.",
            "Give the folder 'data' of the repository x-fact, or its release on the Hugging Face"
            " Hub.",
        )
    return Loaded(pl.concat(records), {"evidence": pl.concat(evidence)})


def _records(raw: Table, split: str) -> pl.DataFrame:
    """No format is named for dates such as 05/06/2019: which is the month?"""
    return raw.frame.select(
        id=numbered(f"x-fact-{split}", raw.height, 5),
        text=raw.need("claim"),
        kind=pl.lit("claim"),
        label_raw=raw.need("label"),
        language=languages(raw.need("language")),
        **dated(
            {
                "date column (claim)": raw.maybe("claimDate"),
                "date column (review)": raw.maybe("reviewDate"),
            }
        ),
        author=raw.maybe("claimant"),
        source=raw.maybe("site"),
        split=pl.lit(split),
    )


def _evidence(raw: Table, ids: pl.Series) -> pl.DataFrame:
    """Up to five search results per claim, in the order of the claims; the files fill the rest with
    a placeholder.
    """
    results = [
        pl.DataFrame(
            {"record_id": ids, "text": raw.maybe(f"evidence_{n}"), "url": raw.maybe(f"link_{n}")}
        ).with_columns(
            evidence_id=pl.col("record_id") + f"-e{n}",
            rank=pl.lit(n),
            provider=pl.lit("x-fact (Google search)"),
        )
        for n in range(1, 6)
    ]
    evidence = pl.concat(results).filter(pl.col("text") != NO_EVIDENCE)
    return evidence.sort("record_id", "rank")


A5 = {
    "true": "true",
    "mostly true": "true",
    "partly true/misleading": "mixed",
    "complicated/hard to categorise": "unknown",
    "other": "unknown",
    "mostly false": "false",
    "false": "false",
    "half true": "mixed",
    "half-true": "mixed",
    "barely true": "false",
    "pants on fire": "false",
    "pants-fire": "false",
}

DATASET = Entry(
    card=Card(
        name="x-fact",
        title="X-Fact",
        summary=(
            "Claims from 85 fact-checking sites in 25 languages, their ratings brought to seven"
            " levels, with search results as evidence and test parts for new sites and new"
            " languages."
        ),
        size=31_189,
        modality=("claims",),
        topic="Various",
        languages=(
            "ara",
            "aze",
            "ben",
            "deu",
            "fas",
            "fra",
            "guj",
            "hin",
            "ind",
            "ita",
            "kat",
            "mar",
            "nld",
            "nor",
            "pan",
            "pol",
            "por",
            "ron",
            "rus",
            "sin",
            "spa",
            "sqi",
            "srp",
            "tam",
            "tur",
        ),
        labelling="Human expert",
        licence="MIT",
        access=(
            "Clone the repository x-fact and give its folder data, or download utahnlp/x-fact from"
            " the Hugging Face Hub."
        ),
        homepage="https://github.com/utahnlp/x-fact",
        citation=(
            "Gupta and Srikumar (2021), X-Fact: A New Benchmark Dataset for Multilingual Fact"
            " Checking, ACL."
        ),
        errata=(
            (
                "The guide's scripts read 37,734 rows, the edition with English claims added"
                " (variant 'with-english'), not the 31,189 of its Table 4."
            ),
            (
                "The guide counts 'partly true/misleading' as false, against its own rule A.5 (map"
                " 'cdl')."
            ),
            "The guide's notebook prints 63.2 for the temporal score; its table says 61.5.",
            "Search results often are the fact-check itself, with its verdict.",
            (
                "Read with ordinary quoting the tab-separated files lose rows: quotes are part of"
                " the text."
            ),
        ),
        has_evidence=True,
        factchecks=True,
    ),
    maps={"a5": A5, "cdl": {**A5, "partly true/misleading": "false", "barely true": "true"}},
    variants={
        "claims": load,
        "with-english": load_with_english,
        "guide": guide("x-fact", "x_fact"),
    },
    published_rows={"with-english": 37_734, "guide": 37_734},
)
