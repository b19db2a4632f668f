"""Before and after, finding by finding: what a repair or a new version changed, and what it could
not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimlab.audit.diff import KINDS, Change, Diff, Kind, changes
from claimlab.audit.fix import Repaired
from claimlab.audit.result import Audit
from claimlab.audit.views.page import Chapter, Detail, chapter
from claimlab.audit.views.wording import VERDICT_WORDS, finding_title, ordered, protocol_sections
from claimlab.core.finding import VERDICTS, Verdict
from claimlab.core.words import several, verb
from claimlab.pages.blocks import (
    Block,
    Cell,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    Tone,
    cell,
    percent,
)
from claimlab.pages.excerpt import excerpt

TONES: Mapping[Kind, Tone] = {"came": "fail", "went": "pass", "changed": "warn"}


def compared(before: Chapter, after: Chapter, repaired: Repaired, detail: Detail) -> Report:
    """The comparison first, then each audit whole."""
    name = excerpt(before.audit.dataset, 80)
    counts = repaired.dataset.lineage[-1].counts
    tiles = Tiles(
        [
            ("records before", f"{counts['before']:,}", "plain"),
            ("kept", f"{counts['kept']:,}", "plain"),
            ("set aside as doubtful", f"{counts['doubtful']:,}", "plain"),
            ("copies dropped", f"{counts['dropped']:,}", "plain"),
            ("moved to another side", f"{repaired.moved:,}", "plain"),
        ]
    )
    blocks: list[Block] = [
        tiles,
        what_was_done(repaired),
        Section("Before and after", [comparison(before.audit, after.audit)], "compared"),
        left_over(after.audit),
        _titled(chapter(before, detail), "Before"),
        _titled(chapter(after, detail), "After"),
        protocol_sections([before.audit]),
    ]
    return Report(
        f"{name}, repaired", "What a split can remove has been removed; the rest is listed.", blocks
    )


def what_was_done(repaired: Repaired) -> Section:
    items = [f"{several(n, 'record')} removed: {reason}." for reason, n in repaired.removed.items()]
    items.append(
        f"{several(repaired.groups, 'group')} of records that must stay together assigned to train,"
        f" dev and test; {repaired.parted:,} of them {verb(repaired.parted, 'was', 'were')} on more"
        " than one side before."
    )
    return Section(
        "What was done",
        [Items(items), Text("The removed rows are in the tables dropped and doubtful.")],
    )


def comparison(before: Audit, after: Audit) -> Table:
    """One row per finding of either audit, what came or went first."""
    return changes_table(changes(before, after))


def changes_table(rows: Sequence[Change]) -> Table:
    columns = ["Change", "Finding", "Before", "Score", "After", "Score", "Difference"]
    body: list[list[Any]] = [
        [
            Cell(c.change, sort=float(KINDS.index(c.change)), tone=TONES.get(c.change, "plain")),
            named(c),
            _verdict(c.before),
            percent(c.score_before),
            _verdict(c.after),
            percent(c.score_after),
            _difference(c),
        ]
        for c in rows
    ]
    return Table(columns, body, "Verdicts, and macro-F1 in %, before and after.")


def diff_blocks(diff: Diff, *, everything: bool = True) -> list[Block]:
    """Two audits side by side: in a sentence, in figures, and finding by finding (`everything`: the
    same ones too).
    """
    counts = diff.counts()
    blocks: list[Block] = [
        Text(diff_sentence(diff), "conclusion"),
        *(Text(note, "note") for note in diff.notes()),
    ]
    if diff.records is not None:
        rows: list[list[Any]] = [[name.replace("_", " "), n] for name, n in diff.records.items()]
        blocks.append(Table(["Records, by id", "n"], rows, sortable=False))
    shown = [c for c in diff.changes if c.change != "same"]
    same = [c for c in diff.changes if c.change == "same"]
    blocks += [changes_table(shown)] if shown else []
    if same and everything:
        blocks.append(
            Fold(f"{several(counts['same'], 'finding')} unchanged", [changes_table(same)])
        )
    elif same:
        blocks.append(Text(f"The same: {', '.join(named(c) for c in same)}."))
    return blocks


def diff_sentence(diff: Diff) -> str:
    """What the comparison comes to."""
    counts = diff.counts()
    if counts["same"] == len(diff):
        return f"No finding changed between '{diff.before.dataset}' and '{diff.after.dataset}'."
    parts = ", ".join(
        f"{n} {'unchanged' if kind == 'same' else kind}" for kind, n in counts.items() if n
    )
    return (
        f"From '{diff.before.dataset}' to '{diff.after.dataset}', of"
        f" {several(len(diff), 'finding')}: {parts}."
    )


def diff_page(diff: Diff) -> Report:
    names = excerpt(f"{diff.before.dataset} and {diff.after.dataset}", 120)
    return Report(f"What changed: {names}", diff.headline(), diff_blocks(diff))


def named(change: Change) -> str:
    return (
        change.check
        if change.feature in (None, change.check)
        else f"{change.check} ({excerpt(change.feature, 60)})"
    )


def _difference(change: Change) -> Cell:
    if change.score_before is None or change.score_after is None:
        return cell(None)
    points = change.score_after - change.score_before
    return Cell(f"{100 * points:+.1f}", sort=points)


def left_over(after: Audit) -> Section:
    """What no split removes: it has to be collected again, balanced, or reported."""
    alarms = [f for f in ordered(after.findings) if f.verdict in ("fail", "warn")]
    if not alarms:
        return Section(
            "What a split cannot remove",
            [Text("Nothing: no check fails or warns any more.")],
            "left",
        )
    intro = (
        "No split removes these: collect or balance the data again, or report them with every"
        " result."
    )
    items = [f"{finding_title(f)} ({VERDICT_WORDS[f.verdict]}): {f.why}" for f in alarms]
    return Section("What a split cannot remove", [Text(intro), Items(items)], "left")


def _verdict(verdict: Verdict | None) -> Cell:
    if verdict is None:
        return Cell("not run", sort=9.0)
    return Cell(VERDICT_WORDS[verdict], sort=float(VERDICTS.index(verdict)), tone=verdict)


def _titled(section: Section, title: str) -> Section:
    return Section(title, section.blocks, section.anchor)
