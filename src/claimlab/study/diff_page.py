"""Two studies side by side: in a sentence, and setting by setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from claimlab.core.stats.interval import Interval
from claimlab.pages.blocks import Block, Cell, Report, Section, Table, Text, Tone, decimal, percent
from claimlab.pages.folder import Contents
from claimlab.study.change import WORDS, Change, StudyDiff, Word
from claimlab.study.entry import Entry
from claimlab.study.published import Row

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


def contents(diff: StudyDiff) -> Contents:
    page = Report(
        f"What changed: {diff.before} and {diff.after}",
        "Two studies, setting by setting",
        diff_blocks(diff),
    )
    return Contents(KIND, [page], data={"diff.json": diff.to_json()})


def diff_blocks(diff: StudyDiff, *, everything: bool = True) -> list[Block]:
    """In a sentence, and setting by setting (`everything`: those that are the same too)."""
    shown = [change for change in diff.changes if everything or change.word != "same"]
    blocks: list[Block] = [
        Text(diff.headline(), "conclusion"),
        *(Text(note, "note") for note in diff.notes),
    ]
    if shown:
        blocks.append(changes_table(shown))
    return [*blocks, Section("How to read this", [Text(_METHOD)])] if everything else blocks


def changes_table(changes: Sequence[Change]) -> Table:
    values = {axis: {c.axes[axis] for c in changes} for axis in changes[0].axes}
    told_apart = [axis for axis in values if len(values[axis]) > 1] or list(values)[:1]
    columns = ["Change", *told_apart, "Before", "After", "Difference", "Corrected p"]
    rows: list[Row] = [
        [
            Cell(c.word, sort=str(WORDS.index(c.word)), tone=_TONES.get(c.word, "plain")),
            *(c.axes[axis] for axis in told_apart),
            _figure(c.before),
            _figure(c.after),
            _difference(c),
            decimal(c.p_holm, 4),
        ]
        for c in changes
    ]
    return Table(columns, rows, "Macro-F1 in %, with 95% intervals.")


def _figure(entry: Entry | None) -> Cell:
    if entry is None:
        return percent(None)
    if entry.macro_f1 is None:
        return Cell(
            "failed" if entry.failed else "not measured", tone="not-measured", title=entry.failed
        )
    return Cell(f"{percent(entry.macro_f1).text}{_ends(entry.interval)}", sort=entry.macro_f1)


def _difference(change: Change) -> Cell:
    if change.difference is None:
        return percent(None)
    return Cell(f"{100 * change.difference:+.1f}{_ends(change.interval)}", sort=change.difference)


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f" ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"
