"""What word noise does to the same claims at the same rate: the null model beside every trace.

Each trace is walked again from its base. At a hop that left out, exchanged and added so many words,
noise does that to as many, at places drawn at random, and edits add up as they do in the trace. A
drift that is not larger, or a detail that is not lost more often, shows no more than that words
changed. Details (numbers, dates, names and so on) are followed through both.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import polars as pl

from claimlab.core.stats.interval import Interval
from claimlab.core.stats.streams import stream_seed
from claimlab.core.types import JsonObject
from claimlab.text.details import CHANGED, KEPT, KINDS, LOST, NEW, compared
from claimlab_simulate.evolve.drift.hops import mean_interval
from claimlab_simulate.evolve.rewrite.known.null import Edits, Words, noised

NOISE = "noise"  # the column with the text of the null model
OUTCOMES = (KEPT, CHANGED, LOST, NEW)
DRAWS = 500
SURVIVAL: JsonObject = {
    "kind": pl.String,
    "step": pl.Int64,
    "traces": pl.Int64,
    "details": pl.Int64,
    **dict.fromkeys(
        (*OUTCOMES, "low", "high", "null_kept", "difference", "difference_low", "difference_high"),
        pl.Float64,
    ),
}


def with_noise(hops: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """`hops` with the text that the null model has at each."""
    sources = {
        language: [Words(part["base"].drop_nulls().unique(maintain_order=True))]
        for (language,), part in hops.group_by("language", maintain_order=True)
    }
    texts: dict[tuple[str, str, int], str | None] = {}
    columns = ("run", "trace_id", "hop", "parent", "base", "input", "output", "language")
    for run, trace, hop, parent, base, before, after, language in hops.select(columns).iter_rows():
        text = texts.get((run, trace, hop - 1 if parent is None else parent), base)
        if text and before and after and before != after:
            draw = random.Random(stream_seed(seed, trace, "noise", hop))
            edits = Edits.observed(before, after)
            text = noised(text, language, edits, sources[language], draw)
        texts[run, trace, hop] = text
    return hops.with_columns(pl.Series(NOISE, list(texts.values()), dtype=pl.String))


def beyond(hops: pl.DataFrame, first: str, second: str, seed: int) -> Interval | None:
    """95% interval of the mean difference between two columns at the last hop of each trace."""
    last = hops.filter(pl.col("hop") == pl.col("hops")).drop_nulls([first, second])
    return mean_interval((last[first] - last[second]).to_numpy(), seed, DRAWS)


def survival(hops: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """Of the details of the base claims, by kind and step: the share kept, changed and lost, and
    how many are new for each of them, with the share that noise keeps. A trace counts by the share
    of its own details; intervals are over traces.
    """
    rows = []
    columns = ("run", "trace_id", "depth", "base", "output", NOISE, "language")
    complete = hops.drop_nulls(["base", "output", NOISE]).select(columns)
    for run, trace, step, base, now, noise, language in complete.iter_rows():
        real, null = (_counted(base, text, language) for text in (now, noise))
        for kind, counts in real.items():
            if size := counts[KEPT] + counts[CHANGED] + counts[LOST]:
                by_noise = null.get(kind, Counter())[KEPT] / size
                shares = (*(counts[outcome] / size for outcome in OUTCOMES), by_noise)
                rows.append((kind, step, run, trace, size, *shares))
    names = ("kind", "step", "run", "trace", "details", *OUTCOMES, "null_kept")
    by_trace = (
        pl.DataFrame(rows, schema=names, orient="row")
        .group_by(names[:4], maintain_order=True)
        .agg(pl.col(names[4]).sum(), pl.col(names[5:]).mean())
    )
    parts = by_trace.group_by("kind", "step", maintain_order=True)
    table = [{"kind": kind, "step": step, **_kept(part, seed)} for (kind, step), part in parts]
    table.sort(key=lambda row: (KINDS.index(row["kind"]), row["step"]))
    return pl.DataFrame(table, schema=SURVIVAL)


def _kept(part: pl.DataFrame, seed: int) -> JsonObject:
    """The figures of one kind at one step."""
    gap = part["kept"] - part["null_kept"]
    low, high = mean_interval(part["kept"].to_numpy(), seed, DRAWS) or (None, None)
    gap_low, gap_high = mean_interval(gap.to_numpy(), seed, DRAWS) or (None, None)
    return {
        "traces": part.height,
        "details": part["details"].sum(),
        **part.select(pl.col(*OUTCOMES, "null_kept").mean()).row(0, named=True),
        "low": low,
        "high": high,
        "difference": gap.mean(),
        "difference_low": gap_low,
        "difference_high": gap_high,
    }


def _counted(base: str, now: str, language: str | None) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for change in compared(base, now, language):
        counts[change.kind][change.outcome] += 1
    return counts
