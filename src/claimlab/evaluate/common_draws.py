"""Several runs on the same records, resampled alike, so that their differences have intervals.

A group is the same group in every run (its records are named alike), whichever records each run was
asked about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Unpack, final

import numpy as np
import polars as pl

from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.interval import (
    DRAWS,
    Interval,
    Kinds,
    Resampling,
    interval,
    kinds,
    redraw,
)
from claimlab.core.stats.scores import Floats
from claimlab.core.units import Units
from claimlab.evaluate.confusion import Cells, Statistic
from claimlab.evaluate.metric import METRICS, Metric, TableMetric
from claimlab.evaluate.scored_run import Runs, ScoredRun
from claimlab.evaluate.sufficiency import thin_classes
from claimlab.evaluate.units import common_units

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
    `units`, which tell as much as `effective` ones of equal size.
    """

    scores: Floats
    draws: Floats
    units: Units
    effective: float

    def interval(self, combine: Statistic) -> Interval | None:
        """Of one figure that `combine` makes of the scores (draws, runs)."""
        return interval(combine(self.draws), self.effective)


def draw_metric(
    runs: Runs, metric: Metric | None = None, **how: Unpack[Resampling]
) -> Drawn | None:
    """A metric of runs, macro-F1 by default; null when one does not have it, or has a class of a
    handful of records."""
    metric = metric or METRICS.get("macro-f1")
    if metric.needs_classes and any(thin_classes(run.answers) for run in runs):
        return None
    runs = common_units(runs)
    measured = [metric.cells(run.answers) for run in runs]
    cells = [cell for cell in measured if cell is not None]
    if len(cells) < len(runs):
        return None
    scores = np.array([metric.measure(run.answers).value for run in runs])
    if isinstance(metric, TableMetric):
        drawn, drawn_from = _draw_cells(runs, cells, **how)
    else:  # scores next to each other share a cell, which moves the figure a little
        how["draws"] = min(how.get("draws", DRAWS), MOST_DRAWS)
        drawn, drawn_from = _draw_cells(runs, cells, **how)
        drawn = drawn + scores - np.array([cell.of_all() for cell in cells])
    return Drawn(scores, drawn, _units(runs), drawn_from.effective)


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
    sizes = [cell.size for cell in cells]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = [np.atleast_2d(cell.cell) + start for cell, start in zip(cells, starts, strict=False)]
    # a record that is in several tables of a run has its cluster once for each
    repeated = [np.tile(cluster, len(row)) for cluster, row in zip(clusters, rows, strict=True)]
    flat_rows = np.concatenate([row.ravel() for row in rows])
    table = kinds(np.concatenate(repeated), flat_rows, int(starts[-1]))

    def figure(flat: Floats) -> Floats:
        parts = zip(cells, pairwise(starts), strict=True)
        figures = [cell.figure(flat[:, start:end]) for cell, (start, end) in parts]
        return np.stack(figures, axis=1)

    return redraw(table, figure, **how), table


def _units(runs: Runs) -> Units:
    """Of the run that has the most of them: runs of one split have the same."""
    return max((run.units for run in runs), key=lambda units: units.count)


def families(runs: Iterable[ScoredRun]) -> list[list[ScoredRun]]:
    """The runs of each task and dataset."""
    runs_of: defaultdict[tuple[str, str], list[ScoredRun]] = defaultdict(list)
    for run in runs:
        runs_of[run.task.name, run.dataset].append(run)
    return list(runs_of.values())


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
