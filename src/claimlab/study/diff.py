"""`study_diff`: what changed between two studies, setting by setting, with intervals where the
runs are at hand; as data, and as a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from claimlab.core.call import in_storage, repeatable
from claimlab.core.progress import progress
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.stats.correction import holm
from claimlab.core.stats.interval import DRAWS, Interval, ends_of
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.scored_run import ScoredRun, open_runs
from claimlab.pages.blocks import Blocks, Cell, Report, Section, Table, Text, Tone, decimal, percent
from claimlab.pages.folder import Contents, fill
from claimlab.study.entry import BoardEntry, Entries, Row, rank_mark, ranks_explained
from claimlab.study.grid_tables import in_brackets
from claimlab.study.saved import saved_study
from claimlab.study.score import PER_COMPARISON, gap_of
from claimlab.study.step import CELLS, FILE, STEPS_FOLDER

Word = Literal[
    "lower",
    "higher",
    "fails now",
    "no longer fails",
    "only before",
    "only after",
    "unclear",
    "same",
]
WORDS: tuple[Word, ...] = get_args(Word)  # in the order of the table
KIND = "study diff"
_TONES: Mapping[Word, Tone] = {
    "lower": "fail",
    "fails now": "fail",
    "higher": "pass",
    "no longer fails": "pass",
}
_METHOD = (
    "A difference is after minus before, in macro-F1, with its 95% interval over test records and"
    " seeds. It is called higher or lower where its p-value, corrected by Holm's method, is below"
    " 0.05, and unclear otherwise."
)
_NO_RUNS = "The runs of {} are not there: differences have no interval."


@dataclass(frozen=True)
class SettingChange:
    """One setting in both studies, or in one of them."""

    axes: JsonObject
    before: BoardEntry | None
    after: BoardEntry | None
    difference: float | None = None
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None

    @property
    def word(self) -> Word:
        if self.before is None or self.after is None:
            return "only after" if self.before is None else "only before"
        if bool(self.before.failed) != bool(self.after.failed):
            return "fails now" if self.after.failed else "no longer fails"
        if (
            self.before.macro_f1 == self.after.macro_f1
            and self.before.interval == self.after.interval
        ):
            return "same"
        if self.p_holm is None or self.p_holm >= 0.05 or not self.difference:
            return "unclear"
        return "higher" if self.difference > 0 else "lower"

    def to_json(self) -> JsonObject:
        sides = {"before": self.before, "after": self.after}
        return {
            "axes": dict(self.axes),
            "change": self.word,
            **{name: None if entry is None else entry.to_json() for name, entry in sides.items()},
            "difference": self.difference,
            "interval": self.interval,
            "p_holm": self.p_holm,
        }


@dataclass
class StudyDiff(Shown):
    """Two studies compared: every setting of either, what changed first."""

    before: str
    after: str
    changes: list[SettingChange]
    notes: list[str]

    def counts(self) -> dict[str, int]:
        return {
            word: n for word in WORDS if (n := sum(change.word == word for change in self.changes))
        }

    def headline(self) -> str:
        parts = ", ".join(f"{n} {word}" for word, n in self.counts().items())
        return (
            f"From '{self.before}' to '{self.after}', of {several(len(self.changes), 'setting')}:"
            f" {parts}."
        )

    @property
    def table(self) -> pl.DataFrame:
        rows = [
            {
                **{axis: str(value) for axis, value in c.axes.items()},
                "change": c.word,
                "before": c.before and c.before.macro_f1,
                "after": c.after and c.after.macro_f1,
                "difference": c.difference,
                **ends_of(c.interval, "low", "high"),
                "p_holm": c.p_holm,
            }
            for c in self.changes
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_json(self) -> JsonObject:
        return {
            "before": self.before,
            "after": self.after,
            "counts": self.counts(),
            "notes": self.notes,
            "settings": [c.to_json() for c in self.changes],
        }


def contents(diff: StudyDiff) -> Contents:
    page = Report(
        f"What changed: {diff.before} and {diff.after}",
        "Two studies, setting by setting",
        diff_blocks(diff),
    )
    return Contents(KIND, [page], data={"diff.json": diff.to_json()})


def diff_blocks(diff: StudyDiff, *, everything: bool = True) -> Blocks:
    """In a sentence, and setting by setting (`everything`: those that are the same too)."""
    changes = [change for change in diff.changes if everything or change.word != "same"]
    blocks: Blocks = [
        Text(diff.headline(), "conclusion"),
        *(Text(note, "note") for note in diff.notes),
    ]
    if changes:
        blocks.append(changes_table(changes))
    return [*blocks, Section("How to read this", [Text(_METHOD)])] if everything else blocks


def changes_table(changes: Sequence[SettingChange]) -> Table:
    values = {axis: {c.axes[axis] for c in changes} for axis in changes[0].axes}
    told_apart = [axis for axis in values if len(values[axis]) > 1] or list(values)[:1]
    columns = ["Change", *told_apart, "Before", "After", "Difference", "Corrected p"]
    rows: list[Row] = [
        [
            Cell(c.word, sort=str(WORDS.index(c.word)), tone=_TONES.get(c.word, "plain")),
            *(c.axes[axis] for axis in told_apart),
            _figure(c.before),
            _figure(c.after),
            percent(None)
            if c.difference is None
            else Cell(f"{100 * c.difference:+.1f}{in_brackets(c.interval)}", sort=c.difference),
            decimal(c.p_holm, 4),
        ]
        for c in changes
    ]
    scored = [entry for c in changes for entry in (c.before, c.after) if entry is not None]
    return Table(columns, rows, f"Macro-F1 in %, with 95% intervals.{ranks_explained(scored)}")


def _figure(entry: BoardEntry | None) -> Cell:
    if entry is None:
        return percent(None)
    if entry.macro_f1 is None:
        return Cell(
            "failed" if entry.failed else "not measured", tone="not-measured", title=entry.failed
        )
    text = f"{percent(entry.macro_f1).text}{in_brackets(entry.interval)}{rank_mark(entry)}"
    return Cell(text, sort=entry.macro_f1)


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
) -> StudyDiff:
    """Which settings score higher or lower in the study `after` than in `before`, and which are in
    one of them only.

    Both are folders of `study_run`. Differences are measured on the runs themselves, with the same
    records drawn for both studies. With `output`, a report is written there.
    """
    folders = [Path(before), Path(after)]
    with Run("diff", None, output, kind=KIND, reads=folders, force=force) as run:
        (old_file, old, _), (new_file, new, _) = map(saved_study, folders)
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
        notes += [_NO_RUNS.format(f"'{study.folder}'") for study in opened if study.missing]
        names = [folder.resolve().name for folder in folders]
        adjusted = zip(measured, holm([change.p for change in measured]), strict=True)
        changes = [replace(change, p_holm=p) for change, p in adjusted]
        changes.sort(key=lambda change: WORDS.index(change.word))
        difference = StudyDiff(names[0], names[1], changes, notes)
        run.fill(lambda folder: fill(contents(difference), folder))
    return difference


def matched(before: Entries, after: Entries) -> tuple[list[SettingChange], list[str]]:
    """The settings of both studies side by side. An axis that one of them lacks, or that has one
    other value in each, tells nothing apart: it is noted and left out."""
    notes, compared = [], []
    for axis in dict.fromkeys(axis for entry in (*before, *after) for axis in entry.axes):
        first, second = _values(before, axis), _values(after, axis)
        if len(first) <= 1 and len(second) <= 1 and first != second:
            names = " and ".join(f"'{(side or ['none'])[0]}'" for side in (first, second))
            notes.append(f"The studies differ in {axis}: {names}.")
        else:
            compared.append(axis)
    old, new = _by_setting(before, compared), _by_setting(after, compared)
    changes = [
        SettingChange(dict(zip(compared, key, strict=True)), old.get(key), new.get(key))
        for key in dict.fromkeys([*old, *new])
    ]
    return changes, notes


def _by_setting(entries: Entries, axes: Sequence[str]) -> dict[tuple[str, ...], BoardEntry]:
    return {tuple(str(entry.axes.get(axis)) for axis in axes): entry for entry in entries}


def _values(entries: Entries, axis: str) -> list[str]:
    """The values that an axis has in a study; none where the study does not have it."""
    return list(dict.fromkeys(str(e.axes[axis]) for e in entries if axis in e.axes))


class _Opened:
    """The runs of a study, each opened once; `missing` says that one was not there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.missing = folder, False

    def runs(self, entry: BoardEntry) -> list[ScoredRun]:
        places = [self.folder / STEPS_FOLDER / name for name in entry.runs]
        if not all(place.is_dir() for place in places):
            self.missing = True
            return []
        return [run for place in places for run in open_runs(place)]


def _measured(
    change: SettingChange, opened: Sequence[_Opened], paired: bool, draws: int
) -> SettingChange:
    before, after = change.before, change.after
    if before is None or after is None or change.word == "same":
        return change
    if before.macro_f1 is None or after.macro_f1 is None:
        return change
    change = replace(change, difference=after.macro_f1 - before.macro_f1)
    old, new = opened[0].runs(before), opened[1].runs(after)
    paired = paired and len(old) == len(new)
    gap = gap_of(new, old, paired=paired, draws=max(DRAWS, draws))
    return change if gap is None else replace(change, difference=gap[0], interval=gap[1], p=gap[2])
