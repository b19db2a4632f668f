"""The variant `guide`: a claims dataset as the authors of the 75-dataset guide release it, instead
of its own files.

They publish one folder per dataset on the Hugging Face Hub (ComplexDataLab/Misinfo_Datasets), three
Parquet files in each, all with the same columns; and the same rows in one train, validation and
test file with a column `dataset`. For several datasets this is the only form in which texts can
still be had.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.catalog import kit

SPLITS = {"train": "train", "validation": "dev", "test": "test"}
EXTRA = ["question", "answer", "event", "subject", "country", "veracity"]
NOTE = (
    "The guide's release: its train, validation and test parts are a random draw over rows, so"
    " repeats of one claim occur in several of them, and some texts were lower-cased."
)


def load(
    bundle: kit.Bundle,
    name: str,
    key: str,
    *,
    kind: str = "claim",
    language: str | None = None,
    label: Sequence[str] = ("label",),
) -> kit.Loaded:
    # `key` is the release's name for the dataset; `language` is for where the release does not say
    # it, and `label` names the columns that may hold its labels
    raw = _rows(bundle, key)
    text, ids = raw.need("claim"), kit.numbered(f"{name}-guide", raw.height)
    tweets = raw.maybe("tweet_id")
    declared = kit.languages(raw.maybe("language"))
    records = raw.frame.select(
        id=ids,
        text=text,
        kind=kit.post_or_id(text).replace("post", kind),
        label_raw=raw.need(*label),
        language=declared if language is None else declared.fill_null(language),
        **kit.dated(
            {"date column": raw.maybe("date"), "snowflake id": kit.tweet_time(tweets)},
            "%m/%d/%Y",
        ),
        tweet_id=tweets,
        author=raw.maybe("author"),
        source=raw.maybe("source", "fact_check_source"),
        url=raw.maybe("source_url", "fact_check_url"),
        topic=raw.maybe("subject"),
        group=kit.repeated(text, ids),
        split="split",
        meta=raw.meta(EXTRA),
    )
    return kit.Loaded(records, notes=[NOTE])


def _rows(bundle: kit.Bundle, key: str) -> kit.Table:
    """The dataset's three files, or its rows of the three common ones."""
    parts = []
    for stem, split in SPLITS.items():
        own = bundle.match(f"{key}_{stem}.*", f"{key}/{stem}/*.parquet", f"{key}/{stem}-*.parquet")
        common = [] if own else bundle.match(f"{stem}.parquet", f"{stem}.csv")
        for name in own or common:
            part = kit.Table.read(bundle, name)
            in_part = (
                part.need("dataset").str.to_lowercase() == key.lower() if common else pl.lit(True)
            )
            parts.append(part.frame.filter(in_part).with_columns(split=pl.lit(split)))
    if not parts:
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds no file like '{key}_train.parquet'.",
            f"Give the folder '{key}' of the guide's release on the Hugging Face Hub, or leave out"
            " `variant`.",
        )
    return kit.Table(key, pl.concat(parts, how="diagonal_relaxed"))
