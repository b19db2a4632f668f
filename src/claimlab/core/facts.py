"""What a dataset holds, in a few plain lines: the same for `print(dataset)`, `claimlab show` and
its page.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from claimlab.core.plain import one_line

COLUMNS_COUNTED = ("veracity", "split", "language", "kind")
VALUES_LISTED = 12  # values of a column that are listed
RECORDS_PRINTED = 5
TEXT_CHARACTERS = 80  # of a text that is printed


def facts(
    records: pl.DataFrame, counts: Mapping[str, Mapping[str, int]], licence: str | None
) -> list[str]:
    """Licence, dates, counts, labels by split, and how many records have each column filled."""
    dates = date_range(records)
    lines = [
        f"licence: {licence or 'not stated'}",
        f"dates: {' to '.join(dates) if dates else 'none'}",
    ]
    counted = [column for column in COLUMNS_COUNTED if column in counts]
    lines += [f"{column}: {tally(counts[column])}" for column in counted]
    lines += [f"veracity in {part}: {words}" for part, words in by_split(records).items()]
    filled = {name: records[name].count() for name in records.columns}
    words = [name if n == records.height else f"{name} ({n:,})" for name, n in filled.items() if n]
    return [*lines, f"columns: {', '.join(words)}"] if records.height else lines


def date_range(records: pl.DataFrame) -> list[str]:
    """The first and the last date; nothing where no record has one."""
    dates = records["date"].drop_nulls()
    return [str(dates.min())[:10], str(dates.max())[:10]] if len(dates) else []


def by_split(records: pl.DataFrame) -> dict[str, str]:
    """The labels of each split, where there are splits."""
    parts = records["split"].drop_nulls().unique().sort().to_list()
    return {
        part: tally(value_counts(records.filter(split=part)["veracity"]))
        for part in parts[:VALUES_LISTED]
    }


def value_counts(values: pl.Series) -> dict[str, int]:
    """How often each value occurs, nulls as "none"."""
    named = values.cast(pl.String).fill_null("none").alias("value")
    return dict(named.value_counts(name="n").sort("value").iter_rows())


def tally(values: Mapping[str, int]) -> str:
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    more = f", and {len(ranked) - VALUES_LISTED} more" if len(ranked) > VALUES_LISTED else ""
    return ", ".join(f"{value} {n:,}" for value, n in ranked[:VALUES_LISTED]) + more


def first_records(records: pl.DataFrame) -> list[str]:
    rows = records.head(RECORDS_PRINTED).select("id", "veracity", "text").iter_rows()
    return [
        f"{name}  {label or '–'}  {one_line((text or '–')[:TEXT_CHARACTERS])}"
        for name, label, text in rows
    ]
