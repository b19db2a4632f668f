"""Runs that answered the same records, side by side: the ranks that the data allow each, those that
may be the best, and the smallest difference that these records can show (`core/stats/ranks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Unpack

import numpy as np

from claimlab.core.stats.chance import LEVEL
from claimlab.core.stats.interval import (
    LEAST_UNITS,
    Interval,
    Resampling,
    ends_of,
    interval,
)
from claimlab.core.stats.ranks import Ranks, rank, rank_words, records_needed
from claimlab.core.types import JsonObject
from claimlab.core.units import too_few
from claimlab.core.words import several
from claimlab.evaluate.common_draws import Drawn, draw_metric, families, on_shared_records
from claimlab.evaluate.metric import Metric, metrics
from claimlab.evaluate.scored_run import Runs
from claimlab.evaluate.sufficiency import LEAST_RECORDS, thin_classes
from claimlab.evaluate.units import common_units

MOST_NAMES = 4  # of runs in a sentence; more are counted
TIMES_AS_MANY = 1_000  # records: beyond this many times those at hand, no number is given


@dataclass(frozen=True)
class RunStanding:
    """One run on a board. `ranks` are the best and the worst place that the data allow it, and
    `tied` says that it may be the best."""

    name: str
    score: float
    interval: Interval | None
    ranks: Ranks | None = None
    tied: bool = False


@dataclass(frozen=True)
class Board:
    """Runs compared by one metric on the records that all of them answered, the best first. `above`
    are the runs that each of the tied ones is better than. `why` says what ranks lack."""

    task: str
    dataset: str
    metric: str
    title: str
    records: int
    groups: int  # units, of which there are so many
    standings: list[RunStanding]
    p_tied: float | None = None  # of the tied runs being equal
    above: tuple[str, ...] = ()
    detectable: float | None = None  # the smallest difference seen with a power of 80%
    needed: int | None = None  # records that would show the difference of the first two
    why: str | None = None
    units: str = ""  # records and units in words: "140 records of 4 publishers (largest 61%)"

    @property
    def tied(self) -> list[str]:
        return [standing.name for standing in self.standings if standing.tied]

    @property
    def ranks(self) -> dict[str, str]:
        """The ranks of each run in words: "1-3", or "4"."""
        return {standing.name: rank_words(standing.ranks) for standing in self.standings}

    def rows(self) -> list[JsonObject]:
        """One row for each run, as plain values."""
        return [
            {
                "system": standing.name,
                "n": self.records,
                "groups": self.groups,
                self.metric: standing.score,
                **ends_of(standing.interval, "low", "high"),
                **ends_of(standing.ranks, "best_rank", "worst_rank"),
                "may_be_best": standing.tied,
            }
            for standing in self.standings
        ]

    def headline(self) -> str:
        """Which runs cannot be told apart, and what they are above."""
        if self.why is not None:
            return f"Ranks are not measured: {self.why}"
        above = f" above {names(self.above)}" if self.above else ""
        if len(self.tied) == 1:
            rest = f", clearly{above}" if above else ""
            return f"{self.tied[0]} is the best of {several(len(self.standings), 'run')}{rest}."
        count = {2: "both", 3: "all three"}.get(len(self.tied), "all of them")
        rest = f"; {count} are{above}" if above else ""
        return f"{names(self.tied)} cannot be told apart (p {self.p_tied:.2g}){rest}."

    def limits(self) -> str:
        """What these records can show at all."""
        units = self.units or several(self.records, "record")
        if self.detectable is None:
            return f"{units}."
        pairs = len(self.standings) * (len(self.standings) - 1) // 2
        corrected = "" if pairs == 1 else f", corrected for {pairs:,} pairs"
        seen = (
            f"With {units}, differences below {100 * self.detectable:.1f} points of {self.title}"
            f" are often missed (power 80%{corrected})."
        )
        first, second = self.standings[:2]
        gap = abs(first.score - second.score)
        if self.needed is None or self.needed <= self.records:
            return seen
        return (
            f"{seen} To see the {100 * gap:.1f} points between {first.name} and {second.name},"
            f" about {self.needed:,} records would be needed."
        )


def names(runs: Sequence[str]) -> str:
    """Names in a sentence: all of them, or some and how many more there are."""
    listed = list(runs)
    if len(listed) > MOST_NAMES:
        listed = [*listed[: MOST_NAMES - 1], f"{len(listed) - MOST_NAMES + 1} more"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


Pairs = dict[tuple[str, str], float]  # the p-value of a pair of runs, corrected for all pairs


def rank_runs(runs: Runs, **how: Unpack[Resampling]) -> tuple[list[Board], Pairs]:
    """A board for each metric of the runs of one task and dataset, the first metric first; and the
    p-value of every pair by that one."""
    boards: list[Board] = []
    pairs: Pairs = {}
    for family in families(run for run in runs if run.answers.answered):
        if len(family) < 2:
            continue
        shared = on_shared_records(family)
        for metric in metrics():
            if not metric.ranked:
                continue
            board, p = by_metric(shared, metric, **how)
            boards += [board] if len(board.standings) > 1 else []
            if metric is metrics()[0]:
                pairs |= p
    return boards, pairs


def by_metric(runs: Runs, metric: Metric, **how: Unpack[Resampling]) -> tuple[Board, Pairs]:
    """The runs that have this metric, ranked by it."""
    runs = common_units(runs)
    measured = [run for run in runs if metric.measure(run.answers).value is not None]
    first, records = runs[0], runs[0].table.height
    units = first.units
    about = first.task.name, first.dataset, metric.key, metric.title
    board = Board(*about, records, units.count, standings=[], units=units.words)
    if len(measured) < 2:
        return board, {}
    if records < LEAST_RECORDS:
        return replace(board, why=f"the runs share {several(records, 'record')}."), {}
    drawn = draw_metric(measured, metric, **how)
    if drawn is None:
        thin = dict.fromkeys(name for run in measured for name in thin_classes(run.answers))
        return replace(board, why=f"too few records of {', '.join(thin)}."), {}
    return placed(board, [run.name for run in measured], drawn, higher=metric.higher_is_better)


def placed(
    board: Board, runs: Sequence[str], drawn: Drawn, *, higher: bool = True
) -> tuple[Board, Pairs]:
    """The board with the standings of `runs`, whose scores were drawn together."""
    scores, units = drawn.scores, drawn.units
    order = np.argsort(-scores if higher else scores, kind="stable").tolist()
    standings = [
        RunStanding(
            runs[i],
            float(scores[i]),
            interval(drawn.draws[:, i], drawn.effective, point=scores[i]),
        )
        for i in order
    ]
    board = replace(board, groups=units.count, units=units.words, standings=standings)
    if drawn.effective < LEAST_UNITS:
        too_few_words = too_few(units.words, units.count, drawn.effective)
        return replace(board, why=f"only {too_few_words}."), {}
    sign = 1.0 if higher else -1.0
    ranking = rank(sign * scores[order], sign * drawn.draws[:, order], drawn.effective)
    standings = [
        replace(standing, ranks=ranks, tied=i in ranking.tied)
        for i, (standing, ranks) in enumerate(zip(standings, ranking.ranks, strict=True))
    ]
    gap = standings[0].score - standings[1].score
    needed = records_needed(board.records, ranking.detectable, gap) or 0
    clear = np.all(ranking.p[ranking.tied] < LEVEL, axis=0).tolist()
    ranked = replace(
        board,
        standings=standings,
        p_tied=ranking.p_tied,
        above=tuple(
            standing.name
            for standing, below in zip(standings, clear, strict=True)
            if below and not standing.tied
        ),
        detectable=ranking.detectable or None,  # nothing tells runs of the same answers apart
        needed=needed if 0 < needed <= TIMES_AS_MANY * board.records else None,
    )
    pairs = permutations(enumerate(standings), 2)
    return ranked, {
        (standing.name, other.name): float(ranking.p[i, j]) for (i, standing), (j, other) in pairs
    }
