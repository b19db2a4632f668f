"""Several runs resampled together: one draw of groups for all of them, so that their differences
have intervals.

A group is the same group in every run (its records are named alike), whichever records each run was
asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.interval import DRAWS, Interval, interval, kinds, redraw
from claimlab.core.stats.scores import Floats, macro_f1
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.small import thin_classes


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
    if all(run.clusters.equals(runs[0].clusters) for run in runs[1:]):
        cluster = np.tile(runs[0].answers.cluster, len(runs))
    else:
        cluster = codes_of(pl.concat([run.clusters for run in runs]))
    sizes = [run.answers.cells for run in runs]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    cell = np.concatenate(
        [run.answers.cell + start for run, start in zip(runs, starts, strict=False)]
    )
    table = kinds(cluster, cell, int(starts[-1]))

    def figure(flat: Floats) -> Floats:
        columns = []
        for run, start in zip(runs, starts, strict=False):
            k = len(run.answers.classes)
            columns.append(
                macro_f1(flat[:, start : start + run.answers.cells].reshape(-1, k, k + 2))
            )
        return np.stack(columns, axis=1)

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
