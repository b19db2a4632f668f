"""Is one run better than another? On the records that both answered: a paired bootstrap and an
exact McNemar test.

The bootstrap resamples whole groups and compares macro-F1. McNemar's test counts the records that
only one of the two got right, as if they were independent: with groups of records it is too sure,
so read it beside the interval. Its p-values are corrected by Holm's method for the number of
comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import polars as pl

from claimlab.core.machine import side_by_side
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.chance import holm
from claimlab.core.stats.interval import DRAWS, Interval
from claimlab.core.words import several
from claimlab.evaluate.metrics import accuracy_of, macro_f1_of
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.small import SMALLEST, unmeasured
from claimlab.evaluate.together import redraw_runs


@dataclass(frozen=True)
class Comparison:
    """`difference` is the macro-F1 of `first` less `second`'s; null, and why, where it is not
    measured.
    """

    first: str
    second: str
    shared: int
    difference: float | None = None
    interval: Interval | None = None
    only_first: int = 0  # records that only the first got right
    only_second: int = 0
    p: float | None = None
    p_holm: float | None = None
    why: str | None = None

    @property
    def better(self) -> str | None:
        """The run that is better beyond doubt by both: the interval is clear of zero, and the
        corrected p below .05.
        """
        if self.interval is None or self.p_holm is None or self.p_holm >= 0.05:
            return None
        low, high = self.interval
        agree = self.only_first > self.only_second
        if low > 0 and agree:
            return self.first
        return self.second if high < 0 and not agree else None


def compare(
    first: ScoredRun, second: ScoredRun, *, seed: int = 0, draws: int = DRAWS
) -> Comparison:
    """Two runs on the records that both were to answer, and whose truth they agree on."""
    if first.task.name != second.task.name:
        return Comparison(first.name, second.name, 0, why="They answer different tasks.")
    same = first.table.select("id", "truth").join(
        second.table.select("id", "truth"), on=["id", "truth"], how="inner"
    )
    if same.height < SMALLEST:
        shared = several(same.height, "record") if same.height else "no records"
        return Comparison(first.name, second.name, same.height, why=f"They share {shared}.")
    alike = same.height == first.table.height and first.table["id"].equals(second.table["id"])
    left, right = (first, second) if alike else (on_records(run, same) for run in (first, second))
    points = [macro_f1_of(run.answers) for run in (left, right)]
    if points[0] is None or points[1] is None:
        why = unmeasured(left.answers) or unmeasured(right.answers)
        return Comparison(first.name, second.name, same.height, why=f"Macro-F1 is {why}.")
    right_left, right_right = (
        (run.table["said"] == run.table["truth"]).fill_null(False).to_numpy()
        for run in (left, right)
    )
    only_first, only_second = (
        int((right_left & ~right_right).sum()),
        int((right_right & ~right_left).sum()),
    )
    return Comparison(
        first.name,
        second.name,
        same.height,
        points[0] - points[1],
        redraw_runs([left, right], lambda f1: f1[:, 0] - f1[:, 1], seed=seed, draws=draws),
        only_first,
        only_second,
        mcnemar(only_first, only_second),
    )


def compare_all(
    runs: Sequence[ScoredRun],
    *,
    every_pair: bool = False,
    seed: int = 0,
    draws: int = DRAWS,
    progress: Progress = silent,
) -> list[Comparison]:
    """Each run with the best one, or every pair; within one task and dataset, corrected for how
    many they are.
    """
    pairs: list[tuple[ScoredRun, ScoredRun]] = []
    for name in dict.fromkeys((run.task.name, run.dataset) for run in runs):
        mine = sorted(
            (run for run in runs if (run.task.name, run.dataset) == name and run.table.height),
            key=_place,
        )
        pairs += combinations(mine, 2) if every_pair else ((mine[0], run) for run in mine[1:])
    progress("comparisons", 0, len(pairs))
    comparisons = side_by_side(
        lambda pair: compare(*pair, seed=seed, draws=draws),
        pairs,
        lambda done: progress("comparisons", done, len(pairs)),
    )
    return corrected(comparisons)


def tied_with(best: str, runs: Sequence[str], comparisons: Sequence[Comparison]) -> list[str]:
    """The other runs that are not clearly worse than the best one, on the records that both were to
    answer.
    """
    clear = [c for c in comparisons if c.better == best]
    worse = {name for c in clear for name in (c.first, c.second)}
    return [name for name in runs if name != best and name not in worse]


def _place(run: ScoredRun) -> tuple[float, float]:
    """The best first: by macro-F1, and by accuracy where it is not measured."""
    return -(macro_f1_of(run.answers) or 0.0), -(accuracy_of(run.answers) or 0.0)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p-value: of the records that one alone got right, is half each side's?"""
    from scipy.special import betainc  # scipy.stats has the test, and takes a second to import

    n, fewer = only_first + only_second, min(only_first, only_second)
    return (
        min(1.0, 2 * float(betainc(n - fewer, fewer + 1, 0.5))) if n else 1.0
    )  # twice the lower tail


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with their p-values corrected for being several, in the order given."""
    tested = [i for i, c in enumerate(comparisons) if c.p is not None]
    adjusted = dict(zip(tested, holm([c.p for c in comparisons if c.p is not None]), strict=True))
    return [replace(c, p_holm=adjusted.get(i)) for i, c in enumerate(comparisons)]


def on_records(run: ScoredRun, records: pl.DataFrame) -> ScoredRun:
    """The same run on some of its records, in the order of their ids; without scores, which no
    comparison needs.
    """
    bare = run.table.with_columns(scores=pl.lit(None, pl.String))
    return replace(run, table=bare.join(records.select("id"), on="id", how="semi").sort("id"))
