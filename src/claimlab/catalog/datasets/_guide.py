"""The variant `guide`: a claims dataset as the authors of the 75-dataset guide release it, instead of its own files.

They publish one folder per dataset on the Hugging Face Hub (ComplexDataLab/Misinfo_Datasets), three Parquet files in each,
all with the same columns; and the same rows in one train, validation and test file with a column `dataset`. For several
datasets this is the only form in which texts can still be had.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence

import polars as pl

from claimlab.catalog.datasets._tolerant import (
    blank_to_null,
    constant,
    dated,
    dates,
    languages,
    maybe,
    pick,
    read_any_table,
    repeated,
    unique_ids,
)
from claimlab.catalog.datasets._tweets import sent_at, tweet_ids
from claimlab.catalog.entry import Loaded, Loader
from claimlab.core.errors import UnreadableFile
from claimlab.core.record import meta_column
from claimlab.files.bundle import Bundle

SPLITS = {"train": "train", "validation": "dev", "test": "test"}
EXTRA = ["question", "answer", "event", "subject", "country", "veracity"]
NOTE = (
    "The guide's release: its train, validation and test parts are a random draw over rows, so repeats of one claim "
    "stand in several of them, and some texts were lower-cased."
)


def guide(
    name: str, key: str, *, kind: str = "claim", language: str | None = None, label: Sequence[str] = ("label",)
) -> Loader:
    """A loader for dataset `name`, which the release files under `key`; `language` where the release does not say, and
    `label` for the columns that may hold its labels."""

    def load(bundle: Bundle) -> Loaded:
        raw = _rows(bundle, key)
        claims = blank_to_null(pick(raw, "claim", where=key))
        ids, tweets = unique_ids(name, _numbers(raw)), tweet_ids(maybe(raw, "tweet_id"))
        written = dates(maybe(raw, "date"), "%m/%d/%Y", "%B %d, %Y")
        times = written.fill_null(sent_at(tweets))
        said = languages(maybe(raw, "language"))
        records = pl.DataFrame(
            {
                "id": ids,
                "text": claims,
                "kind": pl.Series([kind if text is not None else "id-only" for text in claims.to_list()]),
                "label_raw": blank_to_null(pick(raw, *label, where=key)),
                "language": said if language is None else said.fill_null(language),
                "date": times,
                "date_source": dated(written, "date column").fill_null(dated(times, "snowflake id")),
                "tweet_id": tweets,
                "author": maybe(raw, "author"),
                "source": maybe(raw, "source", "fact_check_source"),
                "url": maybe(raw, "source_url", "fact_check_url"),
                "topic": maybe(raw, "subject"),
                "group": repeated(claims, ids),
                "split": raw["split"],
                "meta": meta_column(raw, [c for c in EXTRA if c in raw.columns]),
            }
        )
        return Loaded(records, notes=[NOTE])

    return load


def _rows(bundle: Bundle, key: str) -> pl.DataFrame:
    """The dataset's three files, or its rows of the three common ones."""
    parts = []
    for stem, split in SPLITS.items():
        own = bundle.match(f"{key}_{stem}.*", f"{key}/{stem}/*.parquet", f"{key}/{stem}-*.parquet")
        common = [] if own else bundle.match(f"{stem}.parquet", f"{stem}.csv")
        for name in own or common:
            frame = read_any_table(bundle, name).with_columns(pl.lit(split).alias("split"))
            if common:
                frame = frame.filter(pick(frame, "dataset", where=name).str.to_lowercase() == key.lower())
            parts.append(frame)
    if not parts:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no file like '{key}_train.parquet'.",
            f"Give the folder '{key}' of the guide's release on the Hugging Face Hub, or leave --variant out.",
        )
    return pl.concat(parts, how="diagonal_relaxed")


def _numbers(raw: pl.DataFrame) -> pl.Series:
    return pl.Series([f"guide-{n:06d}" for n in range(1, raw.height + 1)])


def made_up(key: str, *rows: Mapping[str, str | None]) -> dict[str, Callable[[], bytes]]:
    """Made-up rows as files of the release, for an entry's sample: the first row is the test part, the rest train."""
    return {
        f"{key}/{key}_train.parquet": lambda: _parquet(key, rows[1:]),
        f"{key}/{key}_test.parquet": lambda: _parquet(key, rows[:1]),
    }


def _parquet(key: str, rows: Sequence[Mapping[str, str | None]]) -> bytes:
    columns = dict.fromkeys(["claim", "label", *(c for row in rows for c in row)])
    data = {c: pl.Series(c, [row.get(c) for row in rows], dtype=pl.String) for c in columns}
    buffer = io.BytesIO()
    pl.DataFrame({**data, "dataset": constant(key, len(rows))}).write_parquet(buffer)
    return buffer.getvalue()
