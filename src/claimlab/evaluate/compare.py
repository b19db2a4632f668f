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
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
import polars as pl

from claimlab.core.machine import side_by_side
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.chance import LEVEL, holm
from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.interval import DRAWS, Interval, interval, kinds, redraw
from claimlab.core.stats.scores import Floats, macro_f1
from claimlab.core.words import several
from claimlab.evaluate.answers import SMALLEST, thin_classes, unmeasured
from claimlab.evaluate.metric import (
    Cells,
    Metric,
    TableMetric,
    accuracy_of,
    confusion,
    macro_f1_of,
    table_cells,
)
from claimlab.evaluate.scored_run import ScoredRun

MOST_DRAWS = 1_000  # of metrics that are made of scores, which cost more


def redraw_runs(
    runs: Sequence[ScoredRun],
    combine: Callable[[Floats], Floats],
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> Interval | None:
    """The interval of one figure made of the macro-F1 of each run: `combine` takes (draws, runs).

    Null when a run has a class of a handful of records.
    """
    drawn = draw_runs(runs, seed=seed, draws=draws)
    return None if drawn is None else interval(combine(drawn[0]), drawn[1])


def draw_runs(
    runs: Sequence[ScoredRun], *, seed: int = 0, draws: int = DRAWS
) -> tuple[Floats, int] | None:
    """The macro-F1 of each run (draws, runs) under common draws of groups, and how many groups were
    drawn.
    """
    if any(thin_classes(run.answers) for run in runs):
        return None
    return draw_cells(runs, [table_cells(run.answers) for run in runs], seed=seed, draws=draws)


@dataclass(frozen=True)
class Drawn:
    """The scores of several runs, and what they are in common resamples (draws, runs) of
    `groups`.
    """

    scores: Floats
    draws: Floats
    groups: int


def draw_metric(
    runs: Sequence[ScoredRun], metric: Metric, *, seed: int = 0, draws: int = DRAWS
) -> Drawn | None:
    """A metric of runs that have it; null when a run has a class of a handful of records."""
    table = isinstance(metric, TableMetric)
    if metric.needs_classes and any(thin_classes(run.answers) for run in runs):
        return None
    cells = [metric.cells(run.answers, run.task.positive) for run in runs]
    known = [one for one in cells if one is not None]
    if len(known) < len(runs):
        return None
    times = draws if table else min(draws, MOST_DRAWS)
    drawn, groups = draw_cells(runs, known, seed=seed, draws=times)
    scores = np.array([metric.measure(run.answers, run.task.positive).value for run in runs])
    if not table:  # scores next to each other share a cell, which moves the figure a little
        drawn = drawn + scores - np.array([one.of_all() for one in known])
    return Drawn(scores, drawn, groups)


def draw_cells(
    runs: Sequence[ScoredRun], cells: Sequence[Cells], *, seed: int = 0, draws: int = DRAWS
) -> tuple[Floats, int]:
    """A metric of each run (draws, runs) under common draws of groups, and how many groups were
    drawn.
    """
    if all(run.clusters.equals(runs[0].clusters) for run in runs[1:]):
        clusters = [runs[0].answers.cluster] * len(runs)
    else:
        codes = codes_of(pl.concat([run.clusters for run in runs]))
        clusters = np.split(codes, np.cumsum([run.table.height for run in runs])[:-1])
    starts = np.concatenate([[0], np.cumsum([one.size for one in cells])])
    rows = [np.atleast_2d(one.cell) + start for one, start in zip(cells, starts, strict=False)]
    cluster = np.concatenate([np.tile(c, len(r)) for c, r in zip(clusters, rows, strict=True)])
    table = kinds(cluster, np.concatenate([row.ravel() for row in rows]), int(starts[-1]))

    def figure(flat: Floats) -> Floats:
        parts = zip(cells, pairwise(starts), strict=True)
        return np.stack([one.figure(flat[:, a:b]) for one, (a, b) in parts], axis=1)

    return redraw(table, figure, seed=seed, draws=draws), table.groups


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


def alike(runs: Sequence[ScoredRun], *, same_part: bool = False) -> list[list[ScoredRun]]:
    """Runs of one detector, with the same settings, on the same task, data and kind of split. Runs
    without a macro-F1 are left out: on records of one class, or without an answer.

    `same_part` asks for the same held-out values too: another source held out is no other seed.
    """
    families: dict[tuple[str | None, ...], list[ScoredRun]] = {}
    for run in runs:
        if run.about.detector is not None and unmeasured(run.answers) is None:
            part = run.about.division if same_part else None
            families.setdefault((*_family(run), run.about.divided_by, part), []).append(run)
    return list(families.values())


def join_seeds(runs: Sequence[ScoredRun], *, seed: int = 0, draws: int = DRAWS) -> list[Seeds]:
    """Every set of runs that differ in their seed alone, two or more."""
    out = []
    for mine in alike(runs, same_part=True):
        if len({run.about.seed for run in mine}) < 2:
            continue
        scores = [_score(run) for run in mine]
        drawn = draw_runs(mine, seed=seed, draws=draws)
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
                interval=None if drawn is None else interval(drawn[0].mean(axis=1), drawn[1]),
                from_seeds=sd / np.sqrt(len(mine)),
                from_records=None if drawn is None else float(drawn[0].mean(axis=1).std()),
            )
        )
    return out


def drops(runs: Sequence[ScoredRun], *, seed: int = 0, draws: int = DRAWS) -> list[Drop]:
    """For each detector with runs on a random split: the drop to every other kind of split it was
    run on.
    """
    out = []
    groups = alike(runs)
    for easy in groups:
        if easy[0].about.divided_by != RANDOM:
            continue
        for hard in groups:
            by = hard[0].about.divided_by
            if by in (None, RANDOM) or _family(hard[0]) != _family(easy[0]):
                continue
            out.append(_drop(easy, hard, seed=seed, draws=draws))
    return out


def _drop(easy: list[ScoredRun], hard: list[ScoredRun], *, seed: int, draws: int) -> Drop:
    means = [float(np.mean([_score(run) for run in side])) for side in (easy, hard)]
    n = len(easy)

    def lost(f1: Floats) -> Floats:
        return np.asarray(f1[:, :n].mean(axis=1) - f1[:, n:].mean(axis=1))

    return Drop(
        name=str(easy[0].about.detector),
        dataset=easy[0].dataset,
        task=easy[0].task.name,
        divided_by=str(hard[0].about.divided_by),
        random=means[0],
        held_out=means[1],
        drop=means[0] - means[1],
        interval=redraw_runs([*easy, *hard], lost, seed=seed, draws=draws),
        random_runs=[run.name for run in easy],
        held_out_runs=[run.name for run in hard],
    )


def _family(run: ScoredRun) -> tuple[str | None, ...]:
    settings = json.dumps(run.about.settings, sort_keys=True, default=str)
    return run.about.detector, settings, run.task.name, run.dataset


def _score(run: ScoredRun) -> float:
    return float(macro_f1(confusion(run.answers)))
