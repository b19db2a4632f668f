"""The page of a shared task's scores."""

from __future__ import annotations

from claimlab.core.words import several
from claimlab.pages.blocks import Blocks, Cell, Column, Columns, Report, Section, Table, Text, short
from claimlab.pages.blocks import percent as shown_percent
from claimlab.publish.task.layout import GAP_RULES
from claimlab.publish.task.scoring import Entry, TaskScores

ENTRY_COLUMNS: Columns[Entry] = (
    Column("Rank", "ranks", missing="–"),
    Column("Submission", "name", short(60)),
    Column("Private", lambda entry: entry.macro_f1.get("private"), shown_percent),
    Column("95% interval", lambda entry: _interval(entry)),
    Column("Public", lambda entry: entry.macro_f1.get("public"), shown_percent),
    Column("Accuracy", lambda entry: entry.accuracy.get("private"), shown_percent),
    Column("Answered", lambda entry: f"{entry.answered:,} of {entry.records:,}"),
    Column(
        "Look at",
        lambda entry: Cell("; ".join(entry.flags), tone="warn" if entry.flags else "plain"),
    ),
)


def score_blocks(scores: TaskScores) -> Blocks:
    """The ranked submissions, and those that were refused with the reason."""
    scored = [entry for entry in scores.entries if not entry.refused]
    blocks: Blocks = [Text(f"{scores.headline()[0].upper()}{scores.headline()[1:]}.", "conclusion")]
    if scored:
        rule, columns = scores.task.gaps, list(ENTRY_COLUMNS)
        note = "Macro-F1 and accuracy in %."
        if rule in ("no-class", "answered"):
            columns.insert(4, Column("Own rule", _by_own_rule, shown_percent))
            note = f"{note} Own rule of the task: {GAP_RULES[rule]} (private half)."
        blocks.append(Table.of(columns, scored, note))
    if scores.board is not None and len(scored) > 1:
        blocks += [Text(scores.board.headline()), Text(scores.board.limits())]
    if scores.refused:
        rows = [(entry.name, entry.refused) for entry in scores.refused]
        blocks.append(Section("Refused", [Table(("Submission", "Why"), rows)], tone="fail"))
    return blocks


def score_page(scores: TaskScores) -> Report:
    task = scores.task
    about = (
        f"Ranks are of the private half of the test ({several(task.private, 'record')} of"
        f" {task.records:,}). A record without an answer counts as wrong: a false negative of its"
        " class and a false positive of every other. Submissions that share nearly all their errors"
        " are named on both lines. The page holds no label and no answer; the HMAC of the gold is"
        f" {task.gold_hmac}."
    )
    return Report(f"Scores: {task.name}", scores.headline(), [*score_blocks(scores), Text(about)])


def _by_own_rule(entry: Entry) -> float | None:
    return entry.own_rule.get("private")


def _interval(entry: Entry) -> str:
    if entry.interval is None:
        return "–"
    low, high = (100 * end for end in entry.interval)
    return f"{low:.1f} to {high:.1f}"
