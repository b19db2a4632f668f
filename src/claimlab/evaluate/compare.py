"""Several runs together: resampled alike, compared, joined over seeds, and dropped from a random
split to a held-out one.

One draw of groups serves all runs, so that their differences have intervals. A group is the same
group in every run (its records are named alike), whichever records each run was asked about.

Is one run better than another? On the records that both answered: a paired bootstrap and an exact
McNemar test. The bootstrap resamples whole groups and compares macro-F1. McNemar's test counts the
records that only one of the two got right, as if they were independent: with groups of records it
is too sure, so read it beside the interval. Its p-values are corrected by Holm's method for the
number of comparisons.

Runs that belong together are the same detector with other seeds, and the same on a random and on a
held-out split. The drop from the random split to a held-out one is how much of a score was owed to
records like those of training.

Runs that answered the same records, side by side: the ranks that the data allow each, those that
may be the best, and the smallest difference that these records can show (`core/stats/ranks`).

How much of each run a shortcut explains: runs of the detector `shortcut` are compared with the
others on the same records (`core/stats/attribution`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations, product
from typing import Unpack, final

import numpy as np
import polars as pl

from claimlab.core.machine import side_by_side
from claimlab.core.progress import progress
from claimlab.core.stats.attribution import Attribution, attribute
from claimlab.core.stats.chance import LEVEL, holm
from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.interval import (
    DRAWS,
    Interval,
    Kinds,
    Resampling,
    ends_of,
    interval,
    kinds,
    redraw,
)
from claimlab.core.stats.ranks import UNITS, Ranks, rank, rank_words, records_needed
from claimlab.core.stats.scores import Floats
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.metric import (
    METRICS,
    SMALLEST,
    Cells,
    Metric,
    Statistic,
    TableMetric,
    accuracy_of,
    macro_f1_of,
    metrics,
    thin_classes,
    unmeasured,
)
from claimlab.evaluate.scored_run import Runs, ScoredRun

MOST_DRAWS = 1_000  # of metrics that are made of scores, which cost more


def on_shared_records(runs: Runs) -> list[ScoredRun]:
    """The runs on the records that all of them were to answer, and whose truth they agree on."""
    on = ["id", "truth"]
    same = runs[0].table.select(on)
    if all(run.table.select(on).equals(same) for run in runs):
        return list(runs)
    for run in runs[1:]:
        same = same.join(run.table, on=on, how="semi")
    return [replace(run, table=run.table.join(same, on=on, how="semi").sort("id")) for run in runs]


@final
@dataclass(frozen=True)
class Drawn:
    """The scores of several runs, and what they are in common resamples (draws, runs) of
    `groups`, which tell as much as `effective` ones of equal size.
    """

    scores: Floats
    draws: Floats
    groups: int
    effective: float

    def interval(self, combine: Statistic) -> Interval | None:
        """Of one figure that `combine` makes of the scores (draws, runs)."""
        return interval(combine(self.draws), self.groups)


def draw_metric(
    runs: Runs, metric: Metric | None = None, **how: Unpack[Resampling]
) -> Drawn | None:
    """A metric of runs, macro-F1 by default; null when one does not have it, or has a class of a
    handful of records."""
    metric = metric or METRICS.get("macro-f1")
    if metric.needs_classes and any(thin_classes(run.answers) for run in runs):
        return None
    measured = [metric.cells(run.answers) for run in runs]
    cells = [one for one in measured if one is not None]
    if len(cells) < len(runs):
        return None
    scores = np.array([metric.measure(run.answers).value for run in runs])
    if isinstance(metric, TableMetric):
        drawn, drawn_from = _draw_cells(runs, cells, **how)
    else:  # scores next to each other share a cell, which moves the figure a little
        how["draws"] = min(how.get("draws", DRAWS), MOST_DRAWS)
        drawn, drawn_from = _draw_cells(runs, cells, **how)
        drawn = drawn + scores - np.array([one.of_all() for one in cells])
    return Drawn(scores, drawn, drawn_from.groups, drawn_from.effective)


def _draw_cells(
    runs: Runs, cells: Sequence[Cells], **how: Unpack[Resampling]
) -> tuple[Floats, Kinds]:
    """A metric of each run (draws, runs) under common draws of groups, and what was drawn."""
    if all(run.clusters.equals(runs[0].clusters) for run in runs[1:]):
        clusters = [runs[0].answers.cluster] * len(runs)
    else:
        codes = codes_of(pl.concat([run.clusters for run in runs]))
        ends_of_runs = np.cumsum([run.table.height for run in runs])
        clusters = np.split(codes, ends_of_runs[:-1])
    # the tables of all runs side by side: each has its cells from its own start on
    sizes = [one.size for one in cells]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = [np.atleast_2d(one.cell) + start for one, start in zip(cells, starts, strict=False)]
    # a record that is in several tables of a run has its cluster once for each
    repeated = [np.tile(mine, len(row)) for mine, row in zip(clusters, rows, strict=True)]
    flat_rows = np.concatenate([row.ravel() for row in rows])
    table = kinds(np.concatenate(repeated), flat_rows, int(starts[-1]))

    def figure(flat: Floats) -> Floats:
        parts = zip(cells, pairwise(starts), strict=True)
        figures = [one.figure(flat[:, start:end]) for one, (start, end) in parts]
        return np.stack(figures, axis=1)

    return redraw(table, figure, **how), table


def over_seeds(drawn: Floats, stream: int = 0) -> Floats:
    """The mean over seeds in each draw (draws, seeds), with the seeds drawn too; another `stream`
    draws them anew.

    With S seeds the deviations between them are widened by sqrt(S / (S - 1)): S runs show less than
    the spread of all that could be made."""
    draws, seeds = drawn.shape
    means = np.asarray(drawn.mean(axis=1))
    if seeds < 2:
        return means
    rng = np.random.default_rng([seeds, stream] if stream else seeds)
    picked = rng.integers(seeds, size=(draws, seeds))
    resampled = np.take_along_axis(drawn, picked, axis=1).mean(axis=1)
    return np.asarray(means + np.sqrt(seeds / (seeds - 1)) * (resampled - means))


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
    # of the difference, corrected for every pair of runs on the same records; null where these
    # were not ranked
    p_ranks: float | None = None
    why: str | None = None

    @property
    def better(self) -> str | None:
        """The run that is better beyond doubt by both: the interval is clear of zero, and every
        corrected p below .05.
        """
        if self.interval is None or self.p_holm is None or self.p_holm >= LEVEL:
            return None
        if self.p_ranks is not None and self.p_ranks >= LEVEL:
            return None
        low, high = self.interval
        agree = self.only_first > self.only_second
        if low > 0 and agree:
            return self.first
        return self.second if high < 0 and not agree else None


def compare(first: ScoredRun, second: ScoredRun, **how: Unpack[Resampling]) -> Comparison:
    """Two runs on the records that both were to answer, and whose truth they agree on."""
    empty = Comparison(first.name, second.name, 0)
    if first.task.name != second.task.name:
        return replace(empty, why="They answer different tasks.")
    left, right = on_shared_records([first, second])
    shared = left.table.height
    empty = replace(empty, shared=shared)
    if shared < SMALLEST:
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
    )


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
        mine = sorted(family, key=_place)
        pairs += combinations(mine, 2) if every_pair else ((mine[0], run) for run in mine[1:])
    progress("comparisons", 0, len(pairs))
    comparisons = side_by_side(
        lambda pair: compare(*pair, **how),
        pairs,
        lambda done: progress("comparisons", done, len(pairs)),
    )
    return corrected(comparisons)


def families(runs: Iterable[ScoredRun]) -> list[list[ScoredRun]]:
    """The runs of each task and dataset."""
    known: defaultdict[tuple[str, str], list[ScoredRun]] = defaultdict(list)
    for run in runs:
        known[run.task.name, run.dataset].append(run)
    return list(known.values())


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
    adjusted = holm([one.p for one in comparisons])
    return [replace(one, p_holm=p) for one, p in zip(comparisons, adjusted, strict=True)]


RANDOM = "random"


@dataclass(frozen=True)
class Seeds:
    """Runs that differ in their seed alone: `sd` is how far the score moves with the seed,
    `interval` with records. The two are taken apart in `from_seeds` and `from_records`, the
    standard errors of the mean that come from having so few seeds, and so few records.
    """

    name: str
    dataset: str
    task: str
    divided_by: str | None
    runs: list[str]
    seeds: list[int | None]
    mean: float
    sd: float | None
    interval: Interval | None
    from_seeds: float | None = None
    from_records: float | None = None

    @property
    def advice(self) -> str:
        """What would make the mean more certain; nothing where it could not be measured."""
        if self.from_seeds is None or self.from_records is None:
            return ""
        return "seeds" if self.from_seeds > self.from_records else "records"


@dataclass(frozen=True)
class Drop:
    """`drop` is macro-F1 on the random split less that on the split by `divided_by`: positive means
    worse there.
    """

    name: str
    dataset: str
    task: str
    divided_by: str
    random: float
    held_out: float
    drop: float
    interval: Interval | None
    random_runs: list[str]
    held_out_runs: list[str]


def alike(runs: Runs, *, same_part: bool = False) -> list[list[ScoredRun]]:
    """Runs of one detector, with the same settings, on the same task, data and kind of split. Runs
    without a macro-F1 are left out: on records of one class, or without an answer.

    `same_part` asks for the same held-out values too: another source held out is no other seed.
    """
    known: defaultdict[tuple[str | None, ...], list[ScoredRun]] = defaultdict(list)
    for run in runs:
        if run.about.detector is not None and unmeasured(run.answers) is None:
            part = run.about.division if same_part else None
            known[*_family(run), run.about.divided_by, part].append(run)
    return list(known.values())


def join_seeds(runs: Runs, **how: Unpack[Resampling]) -> list[Seeds]:
    """Every set of runs that differ in their seed alone, two or more."""
    out = []
    for mine in alike(runs, same_part=True):
        if len({run.about.seed for run in mine}) < 2:
            continue
        scores = [macro_f1_of(run.answers) or 0.0 for run in mine]
        drawn = draw_metric(mine, **how)
        sd = float(np.std(scores, ddof=1))
        out.append(
            Seeds(
                name=str(mine[0].about.detector),
                dataset=mine[0].dataset,
                task=mine[0].task.name,
                divided_by=mine[0].about.divided_by,
                runs=[run.name for run in mine],
                seeds=[run.about.seed for run in mine],
                mean=float(np.mean(scores)),
                sd=sd,
                interval=drawn and drawn.interval(lambda f1: f1.mean(axis=1)),
                from_seeds=sd / np.sqrt(len(mine)),
                from_records=drawn and float(drawn.draws.mean(axis=1).std()),
            )
        )
    return out


def drops(runs: Runs, **how: Unpack[Resampling]) -> list[Drop]:
    """For each detector with runs on a random split: the drop to every other kind of split it was
    run on.
    """
    return [
        _drop(easy, hard, **how)
        for easy, hard in product(alike(runs), repeat=2)
        if easy[0].about.divided_by == RANDOM
        and hard[0].about.divided_by not in (None, RANDOM)
        and _family(hard[0]) == _family(easy[0])
    ]


def _drop(easy: list[ScoredRun], hard: list[ScoredRun], **how: Unpack[Resampling]) -> Drop:
    means = [
        float(np.mean([macro_f1_of(run.answers) or 0.0 for run in side])) for side in (easy, hard)
    ]
    drawn, size = draw_metric([*easy, *hard], **how), len(easy)

    def fall(f1: Floats) -> Floats:
        first, second = np.split(f1, [size], axis=1)
        return np.asarray(first.mean(axis=1) - second.mean(axis=1))

    return Drop(
        name=str(easy[0].about.detector),
        dataset=easy[0].dataset,
        task=easy[0].task.name,
        divided_by=str(hard[0].about.divided_by),
        random=means[0],
        held_out=means[1],
        drop=means[0] - means[1],
        interval=drawn and drawn.interval(fall),
        random_runs=[run.name for run in easy],
        held_out_runs=[run.name for run in hard],
    )


def _family(run: ScoredRun) -> tuple[str | None, ...]:
    settings = json.dumps(run.about.settings, sort_keys=True, default=str)
    return run.about.detector, settings, run.task.name, run.dataset


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
        return [
            {
                "system": one.name,
                "n": self.records,
                "groups": self.groups,
                self.metric: one.score,
                **ends_of(one.interval, "low", "high"),
                **ends_of(one.ranks, "best_rank", "worst_rank"),
                "may_be_best": one.tied,
            }
            for one in self.standings
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


Pairs = dict[tuple[str, str], float]  # the p-value of a pair of runs, corrected for all pairs


def rank_runs(runs: Runs, **how: Unpack[Resampling]) -> tuple[list[Board], Pairs]:
    """A board for each metric of the runs of one task and dataset, the first metric first; and the
    p-value of every pair by that one."""
    boards: list[Board] = []
    pairs: Pairs = {}
    for mine in families(run for run in runs if run.answers.answered):
        if len(mine) < 2:
            continue
        shared = on_shared_records(mine)
        for metric in metrics():
            board, p = by_metric(shared, metric, **how)
            boards += [board] if len(board.standings) > 1 else []
            if metric is metrics()[0]:
                pairs |= p
    return boards, pairs


def by_metric(runs: Runs, metric: Metric, **how: Unpack[Resampling]) -> tuple[Board, Pairs]:
    """The runs that have this metric, ranked by it."""
    mine = [run for run in runs if metric.measure(run.answers).value is not None]
    first, records = runs[0], runs[0].table.height
    size = records, first.clusters.n_unique()
    board = Board(first.task.name, first.dataset, metric.key, metric.title, *size, standings=[])
    if len(mine) < 2:
        return board, {}
    if records < SMALLEST:
        return replace(board, why=f"the runs share {several(records, 'record')}."), {}
    drawn = draw_metric(mine, metric, **how)
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
    ranking = rank(sign * scores[order], sign * drawn.draws[:, order], drawn.effective)
    standings = [
        replace(one, ranks=ranks, tied=i in ranking.tied)
        for i, (one, ranks) in enumerate(zip(standings, ranking.ranks, strict=True))
    ]
    gap = standings[0].score - standings[1].score
    needed = records_needed(board.records, ranking.detectable, gap) or 0
    clear = np.all(ranking.p[ranking.tied] < LEVEL, axis=0).tolist()
    done = replace(
        board,
        standings=standings,
        p_tied=ranking.p_tied,
        above=tuple(
            one.name for one, below in zip(standings, clear, strict=True) if below and not one.tied
        ),
        detectable=ranking.detectable or None,  # nothing tells runs of the same answers apart
        needed=needed if 0 < needed <= TIMES_AS_MANY * board.records else None,
    )
    pairs = permutations(enumerate(standings), 2)
    return done, {(one.name, other.name): float(ranking.p[i, j]) for (i, one), (j, other) in pairs}


SHORTCUT = "shortcut"  # the detector that looks at one property alone


@dataclass(frozen=True)
class Explained:
    """One run beside the shortcuts: the share of its answers that repeats each, the share that
    knows the label, and its accuracy where the first shortcut is right and where it is wrong."""

    run: str
    shortcuts: list[str]
    shares: Attribution
    where_right: float | None
    where_wrong: float | None


def explain(runs: Runs, **how: Unpack[Resampling]) -> list[Explained]:
    """Every run that is no shortcut, where there is a shortcut on the same task and dataset."""
    out: list[Explained | None] = []
    for mine in families(run for run in runs if run.answers.answered):
        shared = on_shared_records(mine)
        shortcuts = [run for run in shared if run.about.detector == SHORTCUT]
        others = [run for run in shared if run.about.detector != SHORTCUT and shortcuts]
        out += [explained_by(run, shortcuts, **how) for run in others]
    return [one for one in out if one is not None]


def explained_by(run: ScoredRun, shortcuts: Runs, **how: Unpack[Resampling]) -> Explained | None:
    """Null with fewer than 30 records that all of them answered with a class."""
    every, classes = [run, *shortcuts], len(run.answers.classes)
    guesses = np.stack([one.answers.guess for one in every])
    rows = np.flatnonzero((guesses < classes).all(axis=0))
    if len(rows) < SMALLEST or classes < 2:
        return None
    truth, (answers, *others) = run.answers.truth[rows], guesses[:, rows]
    shares = attribute(truth, answers, others, run.answers.cluster[rows], classes, **how)
    if shares is None:
        return None
    right, easy = answers == truth, others[0] == truth
    return Explained(
        run.name,
        [one.name for one in shortcuts],
        shares,
        float(right[easy].mean()) if easy.any() else None,
        float(right[~easy].mean()) if not easy.all() else None,
    )
