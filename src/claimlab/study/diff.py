"""`cl.study_diff`: what changed between two studies, setting by setting, with intervals where the
runs are at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from claimlab.core.arguments import in_storage
from claimlab.core.call import repeatable
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run
from claimlab.core.stats.chance import holm
from claimlab.core.stats.interval import DRAWS
from claimlab.evaluate.open import open_runs
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.pages.folder import fill
from claimlab.study.change import WORDS, Change, StudyDiff
from claimlab.study.diff_page import KIND, contents
from claimlab.study.entry import Entry
from claimlab.study.page import saved_study
from claimlab.study.run import CELLS, FILE, STEPS_FOLDER
from claimlab.study.score import PER_COMPARISON, gap_of

_NO_RUNS = "The runs of {} are not there: differences have no interval."


@in_storage()
def is_study(folder: str | Path) -> bool:
    """Whether the folder is that of a study that was run."""
    return (Path(folder) / FILE).is_file() and (Path(folder) / CELLS).is_file()


@repeatable()
def study_diff(
    before: str | Path,
    after: str | Path,
    *,
    output: str | Path | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> StudyDiff:
    """Which settings score higher or lower in the study `after` than in `before`, and which are in
    one of them only.

    Both are folders of `study_run`. Differences are measured on the runs themselves, with the same
    records drawn for both studies. With `output`, a report is written there.
    """
    folders = [Path(before), Path(after)]
    with Run("diff", None, output, kind=KIND, reads=folders, force=force, progress=progress) as run:
        (old_file, old), (new_file, new) = (saved_study(folder) for folder in folders)
        pairs, notes = matched(old, new)
        opened = [_Opened(folder) for folder in folders]
        measured = []
        for i, change in enumerate(pairs):
            progress("comparing", i, len(pairs))
            measured.append(
                _measured(
                    change, opened, old_file.seeds == new_file.seeds, PER_COMPARISON * len(pairs)
                )
            )
        notes += [_NO_RUNS.format(f"'{one.folder}'") for one in opened if one.missing]
        names = [folder.resolve().name for folder in folders]
        done = StudyDiff(names[0], names[1], _corrected(measured), notes)
        run.fill(lambda folder: fill(contents(done), folder))
    return done


def matched(before: Sequence[Entry], after: Sequence[Entry]) -> tuple[list[Change], list[str]]:
    """The settings of both studies side by side. An axis that one of them lacks, or that has one
    other value in each, tells nothing apart: it is noted and left out."""
    values: list[dict[str, dict[str, None]]] = [{}, {}]
    for one, side in zip(values, (before, after), strict=True):
        for axis, value in ((axis, value) for entry in side for axis, value in entry.axes.items()):
            one.setdefault(axis, {})[str(value)] = None
    notes, compared = [], []
    for axis in dict.fromkeys([*values[0], *values[1]]):
        sides = [list(one.get(axis, {})) for one in values]
        if all(len(side) <= 1 for side in sides) and sides[0] != sides[1]:
            first, second = (side[0] if side else "none" for side in sides)
            notes.append(f"The studies differ in {axis}: '{first}' and '{second}'.")
        else:
            compared.append(axis)
    old, new = (
        {tuple(str(e.axes.get(a)) for a in compared): e for e in side} for side in (before, after)
    )
    keys = dict.fromkeys([*old, *new])
    return [
        Change(dict(zip(compared, key, strict=True)), old.get(key), new.get(key)) for key in keys
    ], notes


class _Opened:
    """The runs of a study, each opened once; `missing` says that one was not there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.missing = folder, False

    def runs(self, entry: Entry) -> list[ScoredRun]:
        places = [self.folder / STEPS_FOLDER / name for name in entry.runs]
        if not all(place.is_dir() for place in places):
            self.missing = True
            return []
        return [run for place in places for run in open_runs(place)]


def _measured(change: Change, opened: Sequence[_Opened], paired: bool, draws: int) -> Change:
    before, after = change.before, change.after
    if (
        before is None
        or after is None
        or before.macro_f1 is None
        or after.macro_f1 is None
        or change.word == "same"
    ):
        return change
    change = replace(change, difference=after.macro_f1 - before.macro_f1)
    old, new = opened[0].runs(before), opened[1].runs(after)
    gap = (
        gap_of(new, old, paired=paired and len(old) == len(new), draws=max(DRAWS, draws))
        if old and new
        else None
    )
    return change if gap is None else replace(change, difference=gap[0], interval=gap[1], p=gap[2])


def _corrected(changes: Sequence[Change]) -> list[Change]:
    """p-values corrected for their number; what changed first."""
    tested = [i for i, change in enumerate(changes) if change.p is not None]
    adjusted = dict(zip(tested, holm([changes[i].p or 0.0 for i in tested]), strict=True))
    done = [replace(change, p_holm=adjusted.get(i)) for i, change in enumerate(changes)]
    return sorted(done, key=lambda change: WORDS.index(change.word))
