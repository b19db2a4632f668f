"""Runs that answered the same records, side by side: the ranks that the data allow each, those that
may be the best, and the smallest difference that these records can show (`core/stats/ranks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from claimlab.core.stats.chance import LEVEL
from claimlab.core.stats.interval import DRAWS, Interval, interval
from claimlab.core.stats.ranks import UNITS, Ranking, Ranks, rank, records_needed
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.answers import SMALLEST, thin_classes
from claimlab.evaluate.compare import Drawn, draw_metric
from claimlab.evaluate.metric import Metric, metrics
from claimlab.evaluate.scored_run import ScoredRun

MOST_NAMES = 4  # of runs in a sentence; more are counted
TIMES_AS_MANY = 1_000  # records: beyond this many times those at hand, no number is given


@dataclass(frozen=True)
class Standing:
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
    groups: int
    standings: list[Standing]
    p_tied: float | None = None  # of the tied runs being equal
    above: tuple[str, ...] = ()
    detectable: float | None = None  # the smallest difference seen with a power of 80%
    needed: int | None = None  # records that would show the difference of the first two
    why: str | None = None

    @property
    def tied(self) -> list[str]:
        return [one.name for one in self.standings if one.tied]

    @property
    def ranks(self) -> dict[str, str]:
        """The ranks of each run in words: "1-3", or "4"."""
        return {one.name: rank_words(one.ranks) for one in self.standings}

    def rows(self) -> list[JsonObject]:
        """One row for each run, as plain values."""
        rows: list[JsonObject] = []
        for one in self.standings:
            (low, high), (first, last) = one.interval or (None, None), one.ranks or (None, None)
            rows.append(
                {
                    "system": one.name,
                    "n": self.records,
                    "groups": self.groups,
                    self.metric: one.score,
                    "low": low,
                    "high": high,
                    "best_rank": first,
                    "worst_rank": last,
                    "may_be_best": one.tied,
                }
            )
        return rows

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
        size = several(self.records, "record")
        units = (
            size if self.groups == self.records else f"{size} in {several(self.groups, 'group')}"
        )
        if self.detectable is None:
            return f"{units}."
        pairs = len(self.standings) * (len(self.standings) - 1) // 2
        corrected = "" if pairs == 1 else f", corrected for {pairs:,} pairs"
        seen = (
            f"With {units}, differences below {100 * self.detectable:.1f} points of {self.title}"
            f" cannot be seen (power 80%{corrected})."
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
    shown = list(runs)
    if len(shown) > MOST_NAMES:
        shown = [*shown[: MOST_NAMES - 1], f"{len(shown) - MOST_NAMES + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def rank_words(ranks: Ranks | None) -> str:
    if ranks is None:
        return "–"
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}-{ranks[1]}"


Pairs = dict[tuple[str, str], float]  # the p-value of a pair of runs, corrected for all pairs


def rank_runs(
    runs: Sequence[ScoredRun], *, seed: int = 0, draws: int = DRAWS
) -> tuple[list[Board], Pairs]:
    """A board for each metric of the runs of one task and dataset, the first metric first; and the
    p-value of every pair by that one."""
    families: dict[tuple[str, str], list[ScoredRun]] = {}
    for run in runs:
        if run.answers.answered:
            families.setdefault((run.task.name, run.dataset), []).append(run)
    boards: list[Board] = []
    pairs: Pairs = {}
    for mine in families.values():
        if len(mine) < 2:
            continue
        shared = on_shared_records(mine)
        for metric in metrics():
            board, p = _by_metric(shared, metric, seed=seed, draws=draws)
            boards += [board] if len(board.standings) > 1 else []
            if metric is metrics()[0]:
                pairs |= p
    return boards, pairs


def _by_metric(
    runs: Sequence[ScoredRun], metric: Metric, *, seed: int, draws: int
) -> tuple[Board, Pairs]:
    """The runs that have this metric, ranked by it."""
    mine = [run for run in runs if metric.measure(run.answers, run.task.positive).value is not None]
    first = runs[0]
    records = first.table.height
    groups = first.clusters.n_unique()
    board = Board(
        first.task.name, first.dataset, metric.key, metric.title, records, groups, standings=[]
    )
    if len(mine) < 2:
        return board, {}
    if records < SMALLEST:
        return replace(board, why=f"the runs share {several(records, 'record')}."), {}
    drawn = draw_metric(mine, metric, seed=seed, draws=draws)
    if drawn is None:
        thin = dict.fromkeys(name for run in mine for name in thin_classes(run.answers))
        return replace(board, why=f"too few records of {', '.join(thin)}."), {}
    return placed(board, [run.name for run in mine], drawn, higher=metric.higher_is_better)


def placed(
    board: Board, runs: Sequence[str], drawn: Drawn, *, higher: bool = True
) -> tuple[Board, Pairs]:
    """The board with the standings of `runs`, whose scores were drawn together."""
    scores, groups = drawn.scores, drawn.groups
    order = np.argsort(-scores if higher else scores, kind="stable").tolist()
    standings = [
        Standing(runs[i], float(scores[i]), interval(drawn.draws[:, i], groups, point=scores[i]))
        for i in order
    ]
    board = replace(board, groups=groups, standings=standings)
    if groups < UNITS:
        return replace(board, why=f"the records are only {several(groups, 'group')}."), {}
    sign = 1.0 if higher else -1.0
    ranking = rank(sign * scores[order], sign * drawn.draws[:, order], groups)
    return (
        replace(
            board,
            standings=[
                replace(one, ranks=ranks, tied=i in ranking.tied)
                for i, (one, ranks) in enumerate(zip(standings, ranking.ranks, strict=True))
            ],
            p_tied=ranking.p_tied,
            above=tuple(standings[i].name for i in _below(ranking)),
            detectable=ranking.detectable or None,  # nothing tells runs of the same answers apart
            needed=_needed(board, standings, ranking.detectable),
        ),
        {
            (one.name, other.name): float(ranking.p[i, j])
            for i, one in enumerate(standings)
            for j, other in enumerate(standings)
            if i != j
        },
    )


def _below(ranking: Ranking) -> list[int]:
    """Those that each of the tied ones is better than."""
    rest = [i for i in range(len(ranking.ranks)) if i not in ranking.tied]
    return [i for i in rest if (ranking.p[ranking.tied, i] < LEVEL).all()]


def _needed(board: Board, standings: Sequence[Standing], detectable: float) -> int | None:
    gap = standings[0].score - standings[1].score
    needed = records_needed(board.records, detectable, gap)
    return None if needed is None or needed > TIMES_AS_MANY * board.records else needed


def on_shared_records(runs: Sequence[ScoredRun]) -> list[ScoredRun]:
    """The runs on the records that all of them were to answer, and whose truth they agree on."""
    ids = runs[0].table["id"]
    if all(
        run.table["id"].equals(ids) and run.table["truth"].equals(runs[0].table["truth"])
        for run in runs[1:]
    ):
        return list(runs)
    same = runs[0].table.select("id", "truth")
    for run in runs[1:]:
        same = same.join(run.table.select("id", "truth"), on=["id", "truth"], how="semi")
    return [
        replace(run, table=run.table.join(same, on=["id", "truth"], how="semi").sort("id"))
        for run in runs
    ]
