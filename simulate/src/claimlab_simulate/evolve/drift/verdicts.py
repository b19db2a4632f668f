"""Verdict drift: how true a claim still is, level by level, along its way.

Verdicts come from the traces (a run or a release that states them), from people or models in the
annotation table (question "verdict" or "veracity-level", meta {"trace_id", "hop"}), or from a model
judge. Without any of them verdict drift is not measured: no rule here guesses how true a text is.
"""

from __future__ import annotations

import polars as pl

# From true to false; six levels, as PolitiFact and the paper have them.
LEVELS = ("True", "Mostly True", "Half True", "Mostly False", "False", "Pants on Fire")
_FOLDED = {level.lower(): level for level in LEVELS}
QUESTIONS = ("verdict", "veracity-level")
START = "True"  # seeds are claims that were verified as true, unless the traces say otherwise


def level(word: str) -> str | None:
    """One of LEVELS, however it is spelled; null for anything else, which the caller counts."""
    plain = " ".join("".join(c if c.isalnum() else " " for c in word.lower()).split())
    return _FOLDED.get(plain)


def with_verdicts(hops: pl.DataFrame, annotations: pl.DataFrame | None = None) -> pl.DataFrame:
    """`hops` with `verdict` brought to LEVELS; annotations fill what the traces leave open."""
    out = hops.with_columns(pl.col("verdict").map_elements(level, return_dtype=pl.String))
    if annotations is None:
        return out
    # Several annotators: the middle level, the lower one when there are two; a vote would lose the
    # order.
    ranked = pl.Enum(LEVELS)
    middle = (
        annotations.filter(pl.col("question").is_in(QUESTIONS))
        .select(
            trace_id=pl.col("meta").str.json_path_match("$.trace_id"),
            hop=pl.col("meta").str.json_path_match("$.hop").cast(pl.Int32),
            given=pl.col("value").map_elements(level, return_dtype=pl.String).cast(ranked),
        )
        .drop_nulls()
        .group_by("trace_id", "hop")
        .agg(pl.col("given").sort().get((pl.len() - 1) // 2).cast(pl.String))
    )
    joined = out.join(middle, on=["trace_id", "hop"], how="left", maintain_order="left")
    return joined.with_columns(verdict=pl.coalesce("verdict", "given")).drop("given")


def verdict_shares(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """Share of each level among traces at their last judged hop, for each value of `by`."""
    judged = hops.drop_nulls("verdict").sort("trace_id", "hop")
    last = judged.group_by("run", "trace_id", maintain_order=True).last()
    return _shares(last.with_columns(pl.col(by).cast(pl.String).fill_null("not stated")), by)


def verdicts_by_hop(hops: pl.DataFrame) -> pl.DataFrame:
    """Share of each level among the traces that were judged at a hop, for each hop."""
    shares = _shares(hops.drop_nulls("verdict").with_columns(hop="depth"), "hop")
    return shares.with_columns(pl.col("hop").cast(pl.String))


def _shares(judged: pl.DataFrame, by: str) -> pl.DataFrame:
    counts = judged.group_by(by, "verdict").agg(n=pl.len())
    share = pl.col("n") / pl.col("n").sum().over(by)
    return counts.with_columns(share=share).sort(by, "verdict")


def verdict_moves(hops: pl.DataFrame) -> pl.DataFrame:
    """From level to level: how often a hop took a claim from one level to another, by neighbouring
    judged hops.
    """
    judged = hops.drop_nulls("verdict").sort("run", "trace_id", "hop")
    before = pl.col("verdict").shift(1).over("run", "trace_id").fill_null(START)
    return (
        judged.with_columns(before=before)
        .group_by("before", after=pl.col("verdict"))
        .agg(n=pl.len())
        .sort("before", "after")
    )
