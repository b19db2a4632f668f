"""Runs that belong together: the same detector with other seeds, and the same on a random and on a
held-out split.

The drop from the random split to a held-out one is how much of a score was owed to records like
those of training.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import Unpack

import numpy as np

from claimlab.core.stats.interval import Interval, Resampling
from claimlab.core.stats.scores import Floats
from claimlab.evaluate.common_draws import draw_metric
from claimlab.evaluate.confusion import macro_f1_of
from claimlab.evaluate.scored_run import Runs, ScoredRun
from claimlab.evaluate.sufficiency import unmeasured

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
    runs_of: defaultdict[tuple[str | None, ...], list[ScoredRun]] = defaultdict(list)
    for run in runs:
        if run.about.detector is not None and unmeasured(run.answers) is None:
            part = run.about.division if same_part else None
            runs_of[*_family(run), run.about.divided_by, part].append(run)
    return list(runs_of.values())


def join_seeds(runs: Runs, **how: Unpack[Resampling]) -> list[Seeds]:
    """Every set of runs that differ in their seed alone, two or more."""
    out = []
    for siblings in alike(runs, same_part=True):
        if len({run.about.seed for run in siblings}) < 2:
            continue
        scores = [macro_f1_of(run.answers) or 0.0 for run in siblings]
        drawn = draw_metric(siblings, **how)
        sd = float(np.std(scores, ddof=1))
        out.append(
            Seeds(
                name=str(siblings[0].about.detector),
                dataset=siblings[0].dataset,
                task=siblings[0].task.name,
                divided_by=siblings[0].about.divided_by,
                runs=[run.name for run in siblings],
                seeds=[run.about.seed for run in siblings],
                mean=float(np.mean(scores)),
                sd=sd,
                interval=drawn and drawn.interval(lambda f1: f1.mean(axis=1)),
                from_seeds=sd / np.sqrt(len(siblings)),
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
