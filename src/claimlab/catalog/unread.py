"""What a file has in writing and cannot be read: counted, shown by an example, and kept in
`meta`.
"""

from __future__ import annotations

import json

import polars as pl

from claimlab.catalog.tweets import tweet_ids

WORDS = {"date": ("date", "dates"), "tweet_id": ("tweet id", "tweet ids")}


def keep_unread(records: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """`records` without the columns of raw values, whose unread ones are in `meta` as
    NAME_as_written; and a note each.

    `date_raw` is written by `times.dated`. A `tweet_id` that is not one (a spreadsheet rounds them)
    becomes null.
    """
    if "tweet_id" in records.columns:
        raw = records["tweet_id"].cast(pl.String).str.strip_chars()
        ids = tweet_ids(raw)
        records = records.with_columns(
            ids.alias("tweet_id"), raw.set(ids.is_not_null(), None).alias("tweet_id_raw")
        )
    notes = []
    for name, (one, many) in WORDS.items():
        column = f"{name}_raw"
        if column not in records.columns:
            continue
        unread = records[column]
        records = records.drop(column)
        lost = unread.drop_nulls()
        if lost.len():
            records = records.with_columns(_with_meta(records, f"{name}_as_written", unread))
            present = int((records[name].is_not_null() | unread.is_not_null()).sum())
            notes.append(
                f"{lost.len():,} of {present:,} {many if present > 1 else one} cannot be read, such"
                f" as '{lost[0]}': null, and kept in meta as '{name}_as_written'."
            )
    return records, notes


def _with_meta(records: pl.DataFrame, key: str, values: pl.Series) -> pl.Series:
    meta = records["meta"].to_list() if "meta" in records.columns else [None] * records.height
    for row in values.is_not_null().arg_true().to_list():
        known = json.loads(meta[row]) if meta[row] else {}
        meta[row] = json.dumps({**known, key: values[row]}, ensure_ascii=False, sort_keys=True)
    return pl.Series("meta", meta, dtype=pl.String)
