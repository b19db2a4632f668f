"""Is one run better than another? On the records that both answered, whole units at a time.

There is one verdict for a pair. Where the runs of a table are ranked, it is that of the ranks,
which are corrected for all pairs; otherwise the interval of the difference in macro-F1, from
resamples of whole units, must be clear of zero, and whole units' sign-flips must agree: each unit's
balance of the records that only one run got right could as well have been the other way round.
McNemar's test is given beside them; it takes records as independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Unpack

import numpy as np

from claimlab.core.progress import progress
from claimlab.core.stats.chance import LEVEL
from claimlab.core.stats.correction import holm
from claimlab.core.stats.interval import (
    DRAWS,
    NUMBERS_AT_A_TIME,
    Interval,
    Resampling,
)
from claimlab.core.stats.scores import Flags, Ints
from claimlab.core.threads import side_by_side
from claimlab.core.words import several
from claimlab.evaluate.common_draws import draw_metric, families, on_shared_records
from claimlab.evaluate.confusion import accuracy_of, macro_f1_of
from claimlab.evaluate.scored_run import Runs, ScoredRun
from claimlab.evaluate.sufficiency import LEAST_RECORDS, unmeasured


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
    p: float | None = None  # of McNemar's test
    p_holm: float | None = None
    p_units: float | None = None  # of sign-flips of whole units
    p_units_holm: float | None = None
    # of the difference, corrected for every pair of runs on the same records; null where these
    # were not ranked
    p_ranks: float | None = None
    why: str | None = None

    @property
    def sure(self) -> float | None:
        """The p-value that decides: of the ranks, or else of sign-flips of whole units."""
        return self.p_units_holm if self.p_ranks is None else self.p_ranks

    @property
    def better(self) -> str | None:
        """The run that is better beyond doubt: by the ranks, or else where the interval is clear
        of zero and sign-flips of whole units agree.
        """
        if self.interval is None or not self.difference:
            return None
        higher = self.first if self.difference > 0 else self.second
        low, high = self.interval
        clear = (low > 0 or high < 0) and (self.only_first > self.only_second) == (low > 0)
        if self.sure is None or self.sure >= LEVEL or not (clear or self.p_ranks is not None):
            return None
        return higher


def compare(first: ScoredRun, second: ScoredRun, **how: Unpack[Resampling]) -> Comparison:
    """Two runs on the records that both were to answer, and whose truth they agree on."""
    empty = Comparison(first.name, second.name, 0)
    if first.task.name != second.task.name:
        return replace(empty, why="They answer different tasks.")
    left, right = on_shared_records([first, second])
    shared = left.table.height
    empty = replace(empty, shared=shared)
    if shared < LEAST_RECORDS:
        words = several(shared, "record") if shared else "no records"
        return replace(empty, why=f"They share {words}.")
    points = [macro_f1_of(run.answers) for run in (left, right)]
    if points[0] is None or points[1] is None:
        why = unmeasured(left.answers) or unmeasured(right.answers)
        return replace(empty, why=f"Macro-F1 is {why}.")
    drawn = draw_metric([left, right], **how)
    hit, other = left.answers.right, right.answers.right
    only_first, only_second = int((hit & ~other).sum()), int((other & ~hit).sum())
    return replace(
        empty,
        difference=points[0] - points[1],
        interval=drawn and drawn.interval(lambda f1: f1[:, 0] - f1[:, 1]),
        only_first=only_first,
        only_second=only_second,
        p=mcnemar(only_first, only_second),
        p_units=flipped(left.answers.cluster, hit, other, how.get("seed", 0)),
    )


def flipped(cluster: Ints, hit: Flags, other: Flags, seed: int) -> float:
    """Two-sided p-value of as many more right answers of one run, when the balance of each unit
    could as well have been the other way round."""
    balance = np.bincount(cluster, weights=hit.astype(np.float64) - other)
    balance = balance[balance != 0]
    own, flips = abs(balance.sum()), DRAWS
    rng = np.random.default_rng([seed, len(balance)])
    reached = 0
    step = max(1, NUMBERS_AT_A_TIME // max(1, len(balance)))
    for start in range(0, flips, step):
        signs = rng.integers(0, 2, size=(min(step, flips - start), len(balance)), dtype=np.int8)
        reached += int((np.abs((2 * signs - 1) @ balance) >= own - 1e-9).sum())
    return (1 + reached) / (1 + flips)


def compare_all(
    runs: Runs,
    *,
    every_pair: bool = False,
    **how: Unpack[Resampling],
) -> list[Comparison]:
    """Each run with the best one, or every pair; within one task and dataset, corrected for how
    many they are.
    """
    pairs: list[tuple[ScoredRun, ScoredRun]] = []
    for family in families(run for run in runs if run.table.height):
        ordered = sorted(family, key=_place)
        pairs += (
            combinations(ordered, 2) if every_pair else ((ordered[0], run) for run in ordered[1:])
        )
    progress("comparisons", 0, len(pairs))
    comparisons = side_by_side(
        lambda pair: compare(*pair, **how),
        pairs,
        lambda done: progress("comparisons", done, len(pairs)),
    )
    return corrected(comparisons)


def _place(run: ScoredRun) -> tuple[float, float]:
    """The best first: by macro-F1, and by accuracy where it is not measured."""
    return -(macro_f1_of(run.answers) or 0.0), -(accuracy_of(run.answers) or 0.0)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p-value: of the records that one alone got right, is half each side's?"""
    from scipy.special import betainc  # scipy.stats has the test, and takes a second to import

    n, fewer = only_first + only_second, min(only_first, only_second)
    tail = float(betainc(n - fewer, fewer + 1, 0.5)) if n else 1.0
    return min(1.0, 2 * tail)


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with their p-values corrected for being several, in the order given."""
    mcnemars = holm([comparison.p for comparison in comparisons])
    flips = holm([comparison.p_units for comparison in comparisons])
    return [
        replace(comparison, p_holm=p, p_units_holm=p_units)
        for comparison, p, p_units in zip(comparisons, mcnemars, flips, strict=True)
    ]
