"""Before and after, finding by finding: what a repair or a new version changed, and what it could
not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from claimlab.audit.diff import KINDS, Diff, FindingChange, Kind, changes
from claimlab.audit.gate import Amount
from claimlab.audit.result import Audit
from claimlab.audit.views.ci import rows_in_words
from claimlab.audit.views.wording import VERDICT_WORDS, finding_title, ordered
from claimlab.core.finding import VERDICTS, Verdict
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tone,
    excerpt,
    percent,
    points,
)

if TYPE_CHECKING:
    from claimlab.audit.fix import Repaired

TONES: Mapping[Kind, Tone] = {
    "came": "fail",
    "went": "pass",
    "changed": "warn",
    "same": "plain",
}
ROWS_SHOWN = 6  # records behind an amount
NOT_RUN = Cell("not run", sort=9.0)


def what_was_done(repaired: Repaired) -> Section:
    items = Items([f"{line}." for line in repaired.lines])
    aside = Text("The removed records are in the tables dropped and doubtful.")
    return Section("What was done", [items, aside])


def comparison(before: Audit, after: Audit) -> Table:
    """One row per finding of either audit, what came or went first."""
    return changes_table(changes(before, after))


def changes_table(rows: Sequence[FindingChange]) -> Table:
    columns: list[Column[FindingChange]] = [
        Column("Change", lambda c: Cell(c.change, float(KINDS.index(c.change)), TONES[c.change])),
        Column("Finding", named),
        Column("Before", format=_verdict, missing=NOT_RUN),
        Column("Score", "score_before", percent),
        Column("After", format=_verdict, missing=NOT_RUN),
        Column("Score", "score_after", percent),
        Column("Difference", _difference, points),
    ]
    return Table.of(columns, rows, "Verdicts, and macro-F1 in %, before and after.")


def diff_blocks(diff: Diff, *, everything: bool = True) -> Blocks:
    """Two audits side by side: in a sentence, in figures, and finding by finding (`everything`: the
    same ones too).
    """
    counts = diff.counts()
    blocks: Blocks = [
        Text(diff_sentence(diff), "conclusion"),
        *(Text(note, "note") for note in diff.notes()),
    ]
    if diff.gate.amounts:
        blocks += _gate(diff, everything=everything)
    if diff.records is not None:
        counted = [(name.replace("_", " "), n) for name, n in diff.records.items()]
        blocks.append(Table(["Records, by id", "n"], counted, sortable=False))
    changes = [c for c in diff.changes if c.change != "same"]
    same = [c for c in diff.changes if c.change == "same"]
    blocks += [changes_table(changes)] if changes else []
    if same and everything:
        blocks.append(
            Fold(f"{several(counts['same'], 'finding')} unchanged", [changes_table(same)])
        )
    elif same:
        blocks.append(Text(f"The same: {', '.join(map(named, same))}."))
    return blocks


def _gate(diff: Diff, *, everything: bool) -> Blocks:
    """The amounts that are too much with the rows behind them, and the others that changed."""
    failed = diff.gate.failed
    words = f"{several(len(failed), 'amount is', 'amounts are')} too much."
    blocks: Blocks = [Text(words if failed else "No amount is too much.", "conclusion")]
    if failed:
        blocks.append(Items([_excess(diff, amount) for amount in failed]))
    changed = [a for a in diff.gate.amounts if a.before != a.after or a.excess]
    if changed and (everything or failed):
        columns: list[Column[Amount]] = [
            Column("Amount", lambda a: excerpt(a.what, 80)),
            Column("Before", lambda a: a.shown(a.before)),
            Column("After", lambda a: a.shown(a.after)),
            Column("Too much", lambda a: Cell("yes" if a.excess else "", tone=_tone(a))),
        ]
        blocks.append(Table.of(columns, changed, "Amounts of both versions.", sortable=False))
    if diff.gate.idle:
        blocks.append(Text(f"Allowed, but not needed: {', '.join(diff.gate.idle)}.", "note"))
    return blocks


def _excess(diff: Diff, amount: Amount) -> str:
    rows = rows_in_words(diff, amount, ROWS_SHOWN)
    return f"{amount.what}: {amount.excess}{rows}"


def _tone(amount: Amount) -> Tone:
    return "fail" if amount.excess else "plain"


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


def named(change: FindingChange) -> str:
    if change.feature is None or change.feature == change.check:
        return change.check
    return f"{change.check} ({excerpt(change.feature, 60)})"


def _difference(change: FindingChange) -> float | None:
    if change.score_before is None or change.score_after is None:
        return None
    return change.score_after - change.score_before


def left_over(after: Audit) -> Section:
    """What no repair removes: it has to be collected again, balanced, or reported."""
    alarms = [f for f in ordered(after.findings) if f.verdict in ("fail", "warn")]
    intro = (
        "Nothing here removes these: collect or balance the data again, or report them with every"
        " result."
    )
    items = [f"{finding_title(f)} ({VERDICT_WORDS[f.verdict]}): {f.why}" for f in alarms]
    blocks: Blocks = [Text(intro), Items(items)]
    nothing = Text("Nothing: no check fails or warns any more.")
    return Section("What is left", blocks if alarms else [nothing], "left")


def _verdict(verdict: Verdict) -> Cell:
    return Cell(VERDICT_WORDS[verdict], sort=float(VERDICTS.index(verdict)), tone=verdict)
