"""Hops by what they have in common: topics one by one, small ones pooled, so that no figure rests
on a few traces.
"""

from __future__ import annotations

import polars as pl

LEAST = 20  # traces behind a slope, an interval or a group of its own
UNSTATED = "not stated"
_BETWEEN = (  # "health; taxes" and "health,taxes" are two topics, "Health, science" is one
    r"\s*[;|]\s*|,(\S)"
)


def by_topic(hops: pl.DataFrame, least: int = LEAST) -> pl.DataFrame:
    """`hops` once for each of their topics; topics with fewer than `least` traces are one, named
    with their number.
    """
    one_each = hops.with_columns(
        pl.col("topic")
        .fill_null(UNSTATED)
        .str.replace_all(_BETWEEN, "\x1f$1")
        .str.split("\x1f")
        .alias("topic")
    ).explode("topic")
    sizes = (
        one_each.select("run", "trace_id", "topic")
        .unique()
        .group_by("topic")
        .agg(pl.len().alias("size"))
        .sort("topic")
    )
    small = sizes.filter(pl.col("size") < least)["topic"].to_list()
    if len(small) < 2:
        return one_each
    rest = f"other ({len(small)} topics with fewer than {least} traces)"
    named = pl.when(pl.col("topic").is_in(small)).then(pl.lit(rest)).otherwise(pl.col("topic"))
    # A trace with two small topics is in the pool once.
    return one_each.with_columns(named.alias("topic")).unique(
        ["run", "trace_id", "hop", "topic"], keep="first", maintain_order=True
    )


def grouped(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """`hops` ready to be grouped by a column: topics split and pooled, what is not stated named."""
    return (
        by_topic(hops)
        if by == "topic"
        else hops.with_columns(pl.col(by).cast(pl.String).fill_null(UNSTATED))
    )
