"""What the cells of a grid score: the mean over seeds, its interval, and whether it differs from a
reference.

Two things vary: which records are tested, and the seed (of the split and of the training). Both are
resampled: in each draw whole groups of records are drawn for all runs at once, and then the seeds.
With S seeds the deviations between them are widened by sqrt(S / (S - 1)), because S runs show less
than the spread of all that could be made. A difference is taken within each draw; its two-sided
p-value is the share of draws on the other side of zero. Whether a score is above chance is told by
evaluate/chance.py. Holm's method corrects for the number of figures in the study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from claimlab.core.stats.chance import UNTESTED, corrected
from claimlab.core.stats.correction import holm
from claimlab.core.stats.interval import DRAWS, LEAST_UNITS, Interval, interval
from claimlab.core.stats.ranks import Ranking, rank
from claimlab.evaluate.chance import against_chance
from claimlab.evaluate.common_draws import draw_metric, over_seeds
from claimlab.evaluate.confusion import accuracy_of, macro_f1_of
from claimlab.evaluate.scored_run import Runs, ScoredRun, open_runs
from claimlab.evaluate.units import in_one_unit
from claimlab.study.entry import TRIVIAL, BoardEntry
from claimlab.study.file import Value
from claimlab.study.plan import GridCell
from claimlab.study.run import Grid
from claimlab.study.step import REFERENCES

SEED, MAJORITY = "seed", "majority"
Setting = tuple[Value, ...]  # a choice on every axis but the seed
RunsBySetting = Mapping[Setting, list[ScoredRun]]
Gap = tuple[float, Interval | None, float]  # a difference with its interval and p
PER_COMPARISON = 200  # draws for each setting of the study


def entries(grid: Grid, *, baseline: str | None = None) -> list[BoardEntry]:
    """Every combination of axis values with its figures, compared with the same one of the detector
    `baseline`, or with the best trivial baseline where none is named."""
    wanted = baseline or grid.study.table.baseline
    groups: dict[Setting, list[GridCell]] = {}
    for cell in grid.cells:
        setting = tuple(value for axis, value in cell.axes.items() if axis != SEED)
        groups.setdefault(setting, []).append(cell)
    runs = _in_one_unit({key: _opened(grid, cells) for key, cells in groups.items()})
    # The least p of B draws is 2 / (B + 1): after Holm's correction it must be able to fall well
    # below 0.05.
    enough = max(DRAWS, PER_COMPARISON * sum(map(bool, runs.values())))
    scored = {key: _entry(grid, cells, runs[key]) for key, cells in groups.items()}
    above = corrected([entry.chance for entry in scored.values()])
    for key, chance in zip(groups, above, strict=True):
        scored[key] = replace(scored[key], chance=chance)
    reading = holm([_reading(entry, key, runs, enough) for key, entry in scored.items()])
    scored |= _ranked(scored, runs)
    compared = [_against(entry, key, wanted, runs, enough) for key, entry in scored.items()]
    differing = holm([entry.p for entry in compared])
    return [
        replace(entry, p_holm=p, p_reading=above_all)
        for entry, p, above_all in zip(compared, differing, reading, strict=True)
    ]


def _in_one_unit(runs: RunsBySetting) -> dict[Setting, list[ScoredRun]]:
    """The same, with one unit for all runs on splits of a dataset that ask the same question."""
    tables: dict[tuple[str, str, str | None], list[tuple[Setting, int]]] = {}
    for key, opened in runs.items():
        for i, run in enumerate(opened):
            tables.setdefault((run.task.name, run.dataset, run.about.divided_by), []).append(
                (key, i)
            )
    out = {key: list(opened) for key, opened in runs.items()}
    for places in tables.values():
        alike = in_one_unit([runs[key][i] for key, i in places])
        for (key, i), run in zip(places, alike, strict=True):
            out[key][i] = run
    return out


def _ranked(scored: Mapping[Setting, BoardEntry], runs: RunsBySetting) -> dict[Setting, BoardEntry]:
    """Each entry with its ranks among the detectors of its setting, which have the same seeds."""
    families: dict[tuple[object, ...], list[Setting]] = {}
    for key, entry in scored.items():
        if entry.macro_f1 is not None:
            others = (*_with_detector(entry, ""), len(runs[key]))
            families.setdefault(others, []).append(key)
    out: dict[Setting, BoardEntry] = {}
    for keys in families.values():
        ranking = _ranking(scored, runs, keys)
        if ranking is None:
            continue
        for i, key in enumerate(keys):
            places, tied = ranking.ranks[i], i in ranking.tied
            out[key] = replace(scored[key], ranks=places, tied=tied, detectable=ranking.detectable)
    return out


def _ranking(
    scored: Mapping[Setting, BoardEntry], runs: RunsBySetting, keys: Sequence[Setting]
) -> Ranking | None:
    """The ranks of these settings among each other; null for one, or too few records."""
    if len(keys) < 2:
        return None
    drawn = draw_metric([run for key in keys for run in runs[key]])
    if drawn is None or drawn.effective < LEAST_UNITS:
        return None
    by_setting = np.split(drawn.draws, len(keys), axis=1)
    means = np.stack([over_seeds(part) for part in by_setting], axis=1)
    points = np.array([scored[key].macro_f1 for key in keys], dtype=np.float64)
    return rank(points, means, drawn.effective)


def _against(
    entry: BoardEntry, key: Setting, wanted: str, runs: RunsBySetting, draws: int
) -> BoardEntry:
    """The entry with its difference to the detector `wanted`, or to the best trivial baseline."""
    if not wanted:
        chance = entry.chance
        return replace(
            entry,
            against=TRIVIAL,
            difference=chance.difference,
            difference_interval=chance.interval,
            p=chance.p,
        )
    reference = _with_detector(entry, wanted)
    if reference == key:
        return entry
    gap = gap_of(runs[key], runs.get(reference, []), draws=draws) or (None, None, None)
    return replace(entry, against=wanted, difference=gap[0], difference_interval=gap[1], p=gap[2])


def _reading(entry: BoardEntry, key: Setting, runs: RunsBySetting, draws: int) -> float | None:
    """The p-value of a detector above chance and above every reference detector of its setting;
    null for these themselves, and where one of them has no score. The majority is one of the
    trivial baselines of `chance`.
    """
    if entry.axes["detector"] in REFERENCES or entry.chance.p is None:
        return None
    highest = entry.chance.p
    for name in REFERENCES:
        other = _with_detector(entry, name)
        if name == MAJORITY or other not in runs:
            continue
        gap = gap_of(runs[key], runs[other], draws=draws)
        if gap is None:
            return None
        highest = max(highest, gap[2] if gap[0] > 0 else 1.0)
    return highest


def _with_detector(entry: BoardEntry, name: str) -> Setting:
    return tuple(name if axis == "detector" else value for axis, value in entry.axes.items())


def _opened(grid: Grid, cells: Sequence[GridCell]) -> list[ScoredRun]:
    """The runs of those cells that have one."""
    folders = [grid.folder(cell) for cell in cells if grid.reason(cell) is None]
    return [run for folder in folders for run in open_runs(folder)]


def _entry(grid: Grid, cells: Sequence[GridCell], runs: list[ScoredRun]) -> BoardEntry:
    failed = next(filter(None, map(grid.reason, cells)), None)
    scores, shares = ([], []) if failed else _measured(runs)
    mean = float(np.mean(scores)) if scores else None
    drawn = draw_metric(runs) if scores else None
    return BoardEntry(
        {axis: value for axis, value in cells[0].axes.items() if axis != SEED},
        len(runs),
        max((run.table.height for run in runs), default=0),
        mean,
        float(np.mean(shares)) if shares else None,
        # few seeds widen what no score can exceed
        drawn and interval(np.clip(over_seeds(drawn.draws), 0, 1), drawn.effective, point=mean),
        float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
        drawn and float(drawn.draws.mean(axis=1).std()),
        chance=against_chance(runs) if scores else UNTESTED,
        seconds=_took(grid, cells, "seconds"),
        cost=_took(grid, cells, "cost"),
        failed=failed,
        runs=tuple(grid.folder(cell).name for cell in cells),
    )


def _took(grid: Grid, cells: Sequence[GridCell], what: str) -> float:
    keys = {cell.node.key for cell in cells}
    return sum(grid.timings.get(key, {}).get(what, 0.0) for key in keys)


def _measured(runs: Runs) -> tuple[list[float], list[float]]:
    """Macro-F1 and accuracy of the runs; nothing where one of them could not be measured."""
    scores = [score for run in runs if (score := macro_f1_of(run.answers)) is not None]
    shares = [share for run in runs if (share := accuracy_of(run.answers)) is not None]
    return (
        scores if len(scores) == len(runs) else [],
        shares if len(shares) == len(runs) else [],
    )


def gap_of(
    runs: Runs,
    other: Runs,
    *,
    paired: bool = True,
    draws: int = DRAWS,
) -> Gap | None:
    """By how much the mean macro-F1 of `runs` is above that of `other`, with its interval and p;
    null where it cannot be measured. `paired`: both have the same seeds in the same order, and
    differences are taken seed by seed.
    """
    half = len(runs)
    if not runs or not other or (paired and half != len(other)):
        return None
    drawn = draw_metric([*runs, *other], draws=draws)
    if drawn is None:
        return None
    point = float(drawn.scores[:half].mean() - drawn.scores[half:].mean())
    ours, theirs = drawn.draws[:, :half], drawn.draws[:, half:]
    gaps = over_seeds(ours - theirs) if paired else over_seeds(ours) - over_seeds(theirs, stream=1)
    below = (int((gaps <= 0).sum()) + 1) / (len(gaps) + 1)
    above = (int((gaps >= 0).sum()) + 1) / (len(gaps) + 1)
    return point, interval(gaps, drawn.effective, point=point), min(1.0, 2 * min(below, above))
