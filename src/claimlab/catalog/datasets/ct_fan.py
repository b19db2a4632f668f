"""CT-FAN (CheckThat! lab, task 3): news articles rated by fact-checkers."""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, UnreadableFile
from claimlab.core.words import several, verb

SPLITS = ("train", "dev", "test")


def load(bundle: Bundle) -> Loaded:
    """Every train, dev and test table: the participants' preprocessed copy, or the lab's own
    (title, text, our rating).
    """
    parts = []
    for split in SPLITS:
        for name in bundle.match("*.csv"):
            stem = PurePosixPath(name).stem.lower()
            if (
                split in stem
                and "unpreprocessed" not in stem
                and not any(s in stem for s in SPLITS if s != split)
            ):
                parts.append(_part(bundle, name, split))
    if not parts:
        bundle.one("*train*.csv")
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no train, dev or test table.",
            "Name the files by their part.",
        )
    records = pl.concat(parts)
    trained = set(records.filter(pl.col("split") == "train")["text"])
    leaked = records.filter(
        (pl.col("split") == "test") & pl.col("text").is_in(list(trained))
    ).height
    note = (
        f"{several(leaked, 'test article')} {verb(leaked, 'appears', 'appear')} word for word in"
        " the training part: do not use this split as it is."
    )
    return Loaded(records, notes=[note] if leaked else [])


def load_original_test(bundle: Bundle) -> Loaded:
    """The test articles as they were written, before a participant's preprocessing."""
    return Loaded(_part(bundle, bundle.one("unpreprocessed_test.csv"), "test"))


def _part(bundle: Bundle, name: str, split: str) -> pl.DataFrame:
    raw = Table.read(bundle, name)
    rows = raw.pick((), ["title_text", "title", "text"])
    both = pl.concat_str("title", "text", separator="\n", ignore_nulls=True)
    return rows.select(
        text=pl.coalesce("title_text", pl.when(both != "").then(both)),
        kind=pl.lit("article"),
        label_raw=raw.maybe("label", "our rating"),
        language=pl.lit("deu" if "german" in name.lower() else "eng"),
        split=pl.lit(split),
        meta=raw.meta({"public_id": ("public_id", "id")}),
    )


A5 = {
    "fake": "false",
    "false": "false",
    "partial": "mixed",
    "partially false": "mixed",
    "truth": "true",
    "true": "true",
    "other": "unknown",
}

DATASET = Entry(
    card=Card(
        name="ct-fan",
        title="CT-FAN",
        summary=(
            "News articles collected through fact-checks for the CheckThat! lab: false, partially"
            " false, true or other."
        ),
        size=2_462,
        modality=("articles",),
        topic="Various",
        region="Germany, USA, Canada",
        languages=("eng", "deu"),
        time_start="2010",
        time_end="2022",
        labelling="Source-based",
        access=(
            "On request from Zenodo (record 6362498); the training part is for participants of the"
            " task."
        ),
        homepage="https://zenodo.org/record/6362498",
        citation=(
            "Shahi, Struß and Mandl (2021), Overview of the CLEF-2021 CheckThat! Lab Task 3 on Fake"
            " News Detection, Working Notes of CLEF."
        ),
        errata=(
            (
                "The guide counts 'partially false' as false, against its own rule A.5 (partial is"
                " mixed); its shares only come out that way (map 'cdl')."
            ),
            "The labels come from fact-checks of each article; the guide calls them source-based.",
            (
                "In the participants' copy all 330 test articles are also in the training part with"
                " the same label, so they cannot be the lab's held-out test part. A score on that"
                " split is worthless."
            ),
            "159 rows of the copy's training part repeat a text, and 3 texts carry two labels.",
            (
                "The copy's texts are lower-cased, without stop words, with names and numbers"
                " replaced; only the test part is also there as written (variant 'original-test')."
            ),
            "Four public ids of the copy were damaged by a spreadsheet (such as '2,574E+20').",
        ),
    ),
    maps={"a5": A5, "cdl": {**A5, "partial": "false", "partially false": "false"}},
    variants={"articles": load, "original-test": load_original_test},
    published_rows={"articles": 2_462},
    real_rows={"articles": 1_571, "original-test": 330},
    real_labels={"fake": 676, "partial": 474, "truth": 268, "other": 153},
)
