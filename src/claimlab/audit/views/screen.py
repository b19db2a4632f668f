"""An audit on a terminal: the conclusion, what to do, a table of what fails or warns, and a line
each for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimlab.audit.advice import ALARMS, name_of, reason
from claimlab.audit.remedy import Command
from claimlab.audit.result import Audit
from claimlab.audit.views.wording import VERDICT_WORDS, headline, ordered
from claimlab.core.finding import Finding
from claimlab.pages.blocks import Block, Cell, Items, Table, Text
from claimlab.pages.excerpt import excerpt
from claimlab.pages.terminal import clean, columns_of, grid, shorten, to_text

ADVICE = 6  # pieces of advice on one screen
INDENT = 4  # of commands
ROWS = 18  # of the table: with all the rest it fits 40 lines
COLUMNS = ("Verdict", "Check", "Feature", "Score", "Interval", "Baseline", "Reason")
WHOLE = ("Verdict", "Check", "Score", "Interval", "Baseline")  # the others give way


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
    done = audit.concluded(folder)
    shown = done.advice if verbose else done.advice[:ADVICE]
    blocks: list[Block] = [Text(f"{audit.dataset}: {headline(audit)}"), Text(done.text)]
    head = [to_text([block], width=width) for block in blocks]
    for one in shown:
        head.append(to_text([Items([f"{one.text} [{one.points:.1f} points]"])], width=width))
        head += [line for command in one.commands for line in _typed(command, width)]
    if rest := len(done.advice) - len(shown):
        head.append(f"- {rest} more with {more} and in the report.")
    body = _sentences(audit, width, colour) if verbose else _overview(audit, width, colour)
    return "\n".join([*filter(None, head), "", *body])


def _typed(command: Command, width: int) -> list[str]:
    """A command as it can be copied: one too long for a line goes on after a backslash, as shells
    have it.
    """
    lines = [" " * INDENT]
    for word in map(clean, command.typed):
        if columns_of(lines[-1]) + columns_of(word) + 2 > width and lines[-1].strip():
            lines[-1] += "\\"
            lines.append(" " * (INDENT + 2))
        lines[-1] += f"{word} "
    return [line.rstrip(" ") for line in lines]


def _overview(audit: Audit, width: int, colour: bool) -> list[str]:
    alarms = [f for f in ordered(audit.findings) if f.verdict in ALARMS]
    table = Table(COLUMNS, [_row(f) for f in alarms[:ROWS]])
    done = audit.conclusion
    groups = {
        "More that fail or warn": [name_of(f) for f in alarms[ROWS:]],
        "Pass": done.passed,
        "Inconclusive": done.inconclusive,
        "Not measured": done.not_measured,
    }
    lines = grid(table, width=width, colour=colour, whole=WHOLE, cut=True) if alarms else []
    return [
        *lines,
        *(
            _line(f"{word} ({len(names)}): ", names, width)
            for word, names in groups.items()
            if names
        ),
    ]


def _row(finding: Finding) -> list[Any]:
    low, high = finding.interval or (0.0, 0.0)
    return [
        Cell(VERDICT_WORDS[finding.verdict], tone=finding.verdict),
        finding.check,
        "" if finding.feature in (None, finding.check) else excerpt(str(finding.feature), 22),
        _figure(finding.score),
        f"{100 * low:.1f} to {100 * high:.1f}" if finding.interval else "",
        _figure(finding.baselines.best()),
        reason(finding),
    ]


def _figure(value: float | None) -> Cell:
    return Cell("" if value is None else f"{100 * value:.1f}", sort=value or 0.0)


def _line(head: str, names: Sequence[str], width: int) -> str:
    """As many names as one line has room for, and how many more there are."""
    for shown in range(len(names), 0, -1):
        rest = f" and {len(names) - shown} more" if shown < len(names) else ""
        line = clean(head + ", ".join(names[:shown]) + rest)
        if columns_of(line) <= width:
            return line
    return shorten(clean(head + names[0]), width)


def _sentences(audit: Audit, width: int, colour: bool) -> list[str]:
    rows: list[list[Any]] = [
        [Cell(VERDICT_WORDS[f.verdict], tone=f.verdict), f"{name_of(f)}: {f.why}"]
        for f in ordered(audit.findings)
    ]
    return grid(Table(["Verdict", "Finding"], rows), width=width, colour=colour, whole=("Verdict",))
