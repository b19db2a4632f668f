"""Verdict drift: how true a claim still is, level by level, along its way.

Verdicts come from the traces (a run or a release that states them), from people or models in the
annotation table (question "verdict" or "veracity-level", meta {"trace_id", "hop"}), or from a model
judge (see judged.py). Without any of them verdict drift is not measured: no rule here guesses how
true a text is.
"""

from __future__ import annotations

import json

import polars as pl

# From true to false; six levels, as PolitiFact and the paper have them.
LEVELS = ("True", "Mostly True", "Half True", "Mostly False", "False", "Pants on Fire")
_FOLDED = {level.lower(): level for level in LEVELS}
QUESTIONS = ("verdict", "veracity-level")
START = "True"  # seeds are claims that were verified as true, unless the traces say otherwise


def level(word: str | None) -> str | None:
    """One of LEVELS, however it is spelled; null for anything else, which the caller counts."""
    if word is None:
        return None
    plain = " ".join("".join(c if c.isalnum() else " " for c in word.lower()).split())
    return _FOLDED.get(plain)


def with_verdicts(hops: pl.DataFrame, annotations: pl.DataFrame | None = None) -> pl.DataFrame:
    """`hops` with `verdict` brought to LEVELS; annotations fill what the traces leave open."""
    out = hops.with_columns(
        pl.Series("verdict", [level(v) for v in hops["verdict"].to_list()], dtype=pl.String)
    )
    if annotations is None:
        return out
    rows = []
    for value, meta in (
        annotations.filter(pl.col("question").is_in(QUESTIONS)).select("value", "meta").iter_rows()
    ):
        where = json.loads(meta) if meta else {}
        if "trace_id" in where and "hop" in where and (verdict := level(value)):
            rows.append((str(where["trace_id"]), int(where["hop"]), verdict))
    if not rows:
        return out
    labels = pl.DataFrame(
        rows, schema={"trace_id": pl.String, "hop": pl.Int32, "given": pl.String}, orient="row"
    )
    # Several annotators: the middle level, the lower one when there are two; a vote would lose the
    # order.
    rank = {name: i for i, name in enumerate(LEVELS)}
    middle = (
        labels.with_columns(
            pl.col("given").replace_strict(rank, return_dtype=pl.Int32).alias("rank")
        )
        .group_by("trace_id", "hop")
        .agg(pl.col("rank").quantile(0.5, "lower").cast(pl.Int32))
        .with_columns(
            pl.col("rank")
            .replace_strict(dict(enumerate(LEVELS)), return_dtype=pl.String)
            .alias("given")
        )
    )
    joined = out.join(
        middle.select("trace_id", "hop", "given"),
        on=["trace_id", "hop"],
        how="left",
        maintain_order="left",
    )
    return joined.with_columns(pl.coalesce("verdict", "given").alias("verdict")).drop("given")


def measured(hops: pl.DataFrame) -> bool:
    return hops["verdict"].null_count() < hops.height


def shares(hops: pl.DataFrame, by: str, at: int | None = None) -> pl.DataFrame:
    """Share of each level among traces at hop `at` (null: each trace's last judged hop), for each
    value of `by`.
    """
    known = hops.drop_nulls("verdict").sort("trace_id", "hop")
    chosen = (
        known.filter(pl.col("hop") == at)
        if at is not None
        else known.group_by("run", "trace_id", maintain_order=True).last()
    )
    return (
        chosen.group_by(pl.col(by).cast(pl.String).fill_null("not stated"), "verdict")
        .agg(pl.len().alias("n"))
        .with_columns((pl.col("n") / pl.col("n").sum().over(by)).alias("share"))
        .sort(by, "verdict")
    )


def by_hop(hops: pl.DataFrame) -> pl.DataFrame:
    """Share of each level among the traces that were judged at a hop, for each hop."""
    return (
        hops.drop_nulls("verdict")
        .group_by(pl.col("depth").alias("hop"), "verdict")
        .agg(pl.len().alias("n"))
        .with_columns((pl.col("n") / pl.col("n").sum().over("hop")).alias("share"))
        .sort("hop", "verdict")
        .with_columns(pl.col("hop").cast(pl.String))
    )


def moves(hops: pl.DataFrame, start: str = START) -> pl.DataFrame:
    """From level to level: how often a hop took a claim from one level to another, by neighbouring
    judged hops.
    """
    known = hops.drop_nulls("verdict").sort("run", "trace_id", "hop")
    before = pl.col("verdict").shift(1).over("run", "trace_id").fill_null(start)
    return (
        known.with_columns(before.alias("before"))
        .group_by("before", pl.col("verdict").alias("after"))
        .agg(pl.len().alias("n"))
        .sort("before", "after")
    )
