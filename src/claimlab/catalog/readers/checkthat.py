"""CT-FAN, task 3 of the CheckThat! lab: news articles rated by fact-checkers."""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, UnreadableFile
from claimlab.core.words import several, verb

SPLITS = ("train", "dev", "test")


def load_articles(bundle: Bundle) -> Loaded:
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
    trained = set(records.filter(split="train")["text"])
    leaked = records.filter(
        (pl.col("split") == "test") & pl.col("text").is_in(list(trained))
    ).height
    note = (
        f"{several(leaked, 'test article')} {verb(leaked, 'appears', 'appear')} word for word in"
        " the training part: do not use this split as it is."
    )
    return Loaded(records, notes=[note] if leaked else [])


def load_original_articles(bundle: Bundle) -> Loaded:
    """The test articles as they were written, before a participant's preprocessing."""
    return Loaded(_part(bundle, bundle.one("unpreprocessed_test.csv"), "test"))


def _part(bundle: Bundle, name: str, split: str) -> pl.DataFrame:
    raw = Table.read(bundle, name)
    raw.need("title_text", "text")  # raises where there is neither
    rows = raw.pick((), ["title_text", "title", "text"])
    both = pl.concat_str("title", "text", separator="\n", ignore_nulls=True)
    return rows.select(
        text=pl.coalesce("title_text", pl.when(both != "").then(both)),
        label_raw=raw.maybe("label", "our rating"),
        language=pl.lit("deu" if "german" in name.lower() else "eng"),
        split=pl.lit(split),
        meta=raw.meta({"public_id": ("public_id", "id")}),
    )
