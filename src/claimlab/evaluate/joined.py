"""Runs that belong together: the same detector with other seeds, and the same on a random and on a
held-out split.

The drop from the random split to a held-out one is how much of a score was owed to records like
those of training.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claimlab.core.stats.interval import DRAWS, Interval
from claimlab.core.stats.scores import Floats, macro_f1
from claimlab.evaluate.metrics import confusion
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.small import unmeasured
from claimlab.evaluate.together import redraw_runs

RANDOM = "random"


@dataclass(frozen=True)
class Seeds:
    """Runs that differ in their seed alone: `sd` is how far the score moves with the seed,
    `interval` with records.
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
        out.append(
            Seeds(
                name=str(mine[0].about.detector),
                dataset=mine[0].dataset,
                task=mine[0].task.name,
                divided_by=mine[0].about.divided_by,
                runs=[run.name for run in mine],
                seeds=[run.about.seed for run in mine],
                mean=float(np.mean(scores)),
                sd=float(np.std(scores, ddof=1)),
                interval=redraw_runs(mine, lambda f1: f1.mean(axis=1), seed=seed, draws=draws),
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
