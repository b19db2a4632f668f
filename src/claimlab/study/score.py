"""What the cells of a grid score: the mean over seeds, its interval, and whether it differs from a reference.

Two things vary: which records are tested, and the seed (of the split and of the training). Both are resampled: in each
draw whole groups of records are drawn for all runs at once, and then the seeds. With S seeds the deviations between
them are widened by sqrt(S / (S - 1)), because S runs show less than the spread of all that could be made.
A difference is taken within each draw; its two-sided p-value is the share of draws on the other side of zero, and
Holm's method corrects for the number of comparisons in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from claimlab.core.stats.adjust import holm
from claimlab.core.stats.interval import DRAWS, Interval, interval
from claimlab.core.stats.scores import Floats, accuracy, measured_macro_f1
from claimlab.evaluate.metrics import confusion
from claimlab.evaluate.open import open_runs
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.together import draw_runs
from claimlab.study.entry import Entry
from claimlab.study.file import Value
from claimlab.study.run import Grid

SEED = "seed"
PER_COMPARISON = 200  # draws for each setting of the study


def entries(grid: Grid, *, baseline: str | None = None, draws: int = DRAWS) -> list[Entry]:
    """Every combination of axis values with its figures, compared with the same one of the detector `baseline`."""
    wanted = baseline or grid.study.table.baseline
    groups: dict[tuple[Value, ...], list[int]] = {}
    for i, cell in enumerate(grid.cells):
        groups.setdefault(tuple(v for a, v in cell.axes.items() if a != SEED), []).append(i)
    opened = {key: _opened(grid, places) for key, places in groups.items()}
    # The least p of B draws is 2 / (B + 1): after Holm's correction it must be able to fall well below 0.05.
    enough = max(draws, PER_COMPARISON * len(groups))
    out = []
    for key, places in groups.items():
        axes = {a: v for a, v in grid.cells[places[0]].axes.items() if a != SEED}
        runs, failed = opened[key]
        entry = _entry(grid, places, axes, runs, failed, draws)
        reference = tuple(wanted if axis == "detector" else value for axis, value in axes.items())
        other = opened.get(reference, ([], None))[0]
        if reference != key:
            entry = replace(entry, against=wanted)
        out.append(_compared(entry, runs, other, enough) if reference != key and _pairs(runs, other) else entry)
    tested = [i for i, e in enumerate(out) if e.p is not None]
    adjusted = dict(zip(tested, holm([out[i].p or 0.0 for i in tested]), strict=True))
    return [replace(e, p_holm=adjusted.get(i)) for i, e in enumerate(out)]


def _pairs(runs: Sequence[ScoredRun], other: Sequence[ScoredRun]) -> bool:
    """Whether there is a run of each for every seed."""
    return bool(runs) and len(runs) == len(other)


def _opened(grid: Grid, places: Sequence[int]) -> tuple[list[ScoredRun], str | None]:
    runs, failed = [], None
    for cell in (grid.cells[i] for i in places):
        reason = grid.reason(cell)
        failed = failed or reason
        if reason is None:
            runs += open_runs(grid.folder(cell))
    return runs, failed


def _entry(
    grid: Grid, places: Sequence[int], axes: Mapping[str, Value], runs: list[ScoredRun], failed: str | None, draws: int
) -> Entry:
    scores = [measured_macro_f1(confusion(run.answers)) for run in runs]
    known = [score for score in scores if score is not None]
    whole = bool(known) and len(known) == len(runs) and failed is None
    mean = float(np.mean(known)) if whole else None
    drawn = draw_runs(runs, draws=draws) if whole else None
    nodes = {node.key for i in places for node in [grid.cells[i].node]}
    return Entry(
        axes,
        len(runs),
        max((run.table.height for run in runs), default=0),
        mean,
        float(np.mean([accuracy(confusion(run.answers)) for run in runs])) if runs and failed is None else None,
        None if drawn is None else interval(over_seeds(drawn[0]), drawn[1], point=mean),
        float(np.std(known, ddof=1)) if whole and len(known) > 1 else None,
        seconds=sum(grid.timings.get(key, {}).get("seconds", 0.0) for key in nodes),
        cost=sum(grid.timings.get(key, {}).get("cost", 0.0) for key in nodes),
        failed=failed,
        runs=tuple(Path(grid.folder(grid.cells[i])).name for i in places),
    )


def _compared(entry: Entry, runs: list[ScoredRun], other: list[ScoredRun], draws: int) -> Entry:
    gap = gap_of(runs, other, paired=True, draws=draws)
    return entry if gap is None else replace(entry, difference=gap[0], difference_interval=gap[1], p=gap[2])


def gap_of(
    runs: Sequence[ScoredRun], other: Sequence[ScoredRun], *, paired: bool, draws: int = DRAWS
) -> tuple[float, Interval | None, float] | None:
    """By how much the mean macro-F1 of `runs` is above that of `other`, with its interval and p; null where it cannot
    be measured. `paired`: both have the same seeds in the same order, and differences are taken seed by seed."""
    points = [measured_macro_f1(confusion(run.answers)) for run in (*runs, *other)]
    drawn = draw_runs([*runs, *other], draws=draws)
    if drawn is None or any(point is None for point in points):
        return None
    known, half = [point for point in points if point is not None], len(runs)
    point = float(np.mean(known[:half]) - np.mean(known[half:]))
    mine, theirs = drawn[0][:, :half], drawn[0][:, half:]
    gaps = over_seeds(mine - theirs) if paired else over_seeds(mine) - over_seeds(theirs, stream=1)
    below = (int((gaps <= 0).sum()) + 1) / (len(gaps) + 1)
    above = (int((gaps >= 0).sum()) + 1) / (len(gaps) + 1)
    return point, interval(gaps, drawn[1], point=point), min(1.0, 2 * min(below, above))


def over_seeds(drawn: Floats, stream: int = 0) -> Floats:
    """The mean over seeds in each draw (draws, seeds), with the seeds drawn too; another `stream` draws them anew."""
    draws, seeds = drawn.shape
    means = np.asarray(drawn.mean(axis=1))
    if seeds < 2:
        return means
    rng = np.random.default_rng([seeds, stream] if stream else seeds)
    picked = rng.integers(seeds, size=(draws, seeds))
    resampled = np.take_along_axis(drawn, picked, axis=1).mean(axis=1)
    return np.asarray(means + np.sqrt(seeds / (seeds - 1)) * (resampled - means))
