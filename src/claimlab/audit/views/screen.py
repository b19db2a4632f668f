"""An audit on a terminal: the conclusion, what to do, a table of what fails or warns, and a line
each for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from claimlab.audit.advice import name_of, reason
from claimlab.audit.advice_rules import ALARMS
from claimlab.audit.remedy import SuggestedCall
from claimlab.audit.result import Audit
from claimlab.audit.views.wording import VERDICT_WORDS, first_words, headline, ordered, verdict_line
from claimlab.core.finding import Finding
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Items,
    Table,
    Text,
    percent,
    short,
    span,
)
from claimlab.pages.terminal import clean, columns_of, grid, natural_width, shorten, to_text

ADVICE = 6  # pieces of advice on one screen
COMMAND_INDENT = 4  # of commands
NO_FIGURE = Cell("", sort=0.0)
ROWS_SHOWN = 18  # of the table: with all the rest it fits 40 lines
WHOLE = ("Verdict", "Check", "Score", "Interval", "Baseline")  # the others are wrapped
GIVE_WAY = ("Baseline", "Interval")  # left out where the table is too wide, in this order
VERDICT: Column[Finding] = Column(
    "Verdict", format=VERDICT_WORDS.get, tone=lambda finding: finding.verdict
)
COLUMNS: Columns[Finding] = (
    VERDICT,
    Column("Check"),
    Column("Feature", lambda f: None if f.feature == f.check else f.feature, short(40), ""),
    Column("Score", format=percent, missing=NO_FIGURE),
    Column("Interval", format=lambda interval: span(interval).text, missing=""),
    Column("Baseline", lambda f: f.baselines.best(), percent, NO_FIGURE),
    Column("Reason", reason),
)


def screen(
    audit: Audit,
    *,
    width: int = 100,
    colour: bool = False,
    verbose: bool = False,
    folder: str | None = None,
    more: str = "verbose=True",
) -> str:
    """The audit of the dataset at `folder` on one screen, with commands to type; `verbose` has all
    advice and every sentence, and `more` says how to ask for that."""
    conclusion = audit.concluded(folder)
    pieces = conclusion.advice if verbose else conclusion.advice[:ADVICE]
    blocks: Blocks = [Text(f"{audit.dataset}: {headline(audit)}"), Text(verdict_line(conclusion))]
    head = [to_text([block], width=width) for block in blocks]
    if conclusion.first is not None and conclusion.first.commands:
        head += [first_words(conclusion.first), *typed_lines(conclusion.first.commands[0], width)]
    for piece in pieces:
        head.append(to_text([Items([piece.words])], width=width))
        head += [line for command in piece.commands for line in typed_lines(command, width)]
    if rest := len(conclusion.advice) - len(pieces):
        head.append(f"- {rest} more with {more} and in the report.")
    body = _sentences(audit, width, colour) if verbose else _overview(audit, width, colour)
    return "\n".join([*filter(None, head), "", *body])


def typed_lines(command: SuggestedCall, width: int) -> list[str]:
    """A command as it can be copied: one too long for a line goes on after a backslash, as shells
    have it.
    """
    lines = [" " * COMMAND_INDENT]
    for word in map(clean, command.typed):
        if columns_of(lines[-1]) + columns_of(word) + 2 > width and lines[-1].strip():
            lines[-1] += "\\"
            lines.append(" " * (COMMAND_INDENT + 2))
        lines[-1] += f"{word} "
    return [line.rstrip(" ") for line in lines]


def _overview(audit: Audit, width: int, colour: bool) -> list[str]:
    alarms = [f for f in ordered(audit.findings) if f.verdict in ALARMS]
    table = _fitting(alarms[:ROWS_SHOWN], width)
    conclusion = audit.conclusion
    groups = {
        "More that fail or warn": [name_of(f) for f in alarms[ROWS_SHOWN:]],
        "Pass": conclusion.passed,
        "Inconclusive": conclusion.inconclusive,
        "Not measured": conclusion.not_measured,
        "Not applicable": conclusion.not_applicable,
    }
    lines = grid(table, width=width, colour=colour, whole=WHOLE) if alarms else []
    return [
        *lines,
        *(
            _line(f"{word} ({len(names)}): ", names, width)
            for word, names in groups.items()
            if names
        ),
    ]


def _fitting(findings: Sequence[Finding], width: int) -> Table:
    """The table with as many columns as fit: a column that is left out is missed less than the end
    of a word.
    """
    for left_out in range(len(GIVE_WAY) + 1):
        columns = [column for column in COLUMNS if column.head not in GIVE_WAY[:left_out]]
        table = Table.of(columns, findings)
        if natural_width(table) <= width:
            break
    return table


def _line(head: str, names: Sequence[str], width: int) -> str:
    """As many names as one line has room for, and how many more there are."""
    for count in range(len(names), 0, -1):
        rest = f" and {len(names) - count} more" if count < len(names) else ""
        line = clean(head + ", ".join(names[:count]) + rest)
        if columns_of(line) <= width:
            return line
    return shorten(clean(head + names[0]), width)


def _sentences(audit: Audit, width: int, colour: bool) -> list[str]:
    columns = (VERDICT, Column[Finding]("Finding", lambda f: f"{name_of(f)}: {f.why}"))
    table = Table.of(columns, ordered(audit.findings))
    return grid(table, width=width, colour=colour, whole=("Verdict",))
