"""What a gate found, as machines of continuous integration read it: annotations of GitHub, and a
JUnit file.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from claimlab.audit.diff import Diff
from claimlab.audit.gate import Amount
from claimlab.core.plain import one_line
from claimlab.core.words import several

ANNOTATIONS_FILE, JUNIT_FILE = "annotations.txt", "junit.xml"
MOST_ANNOTATIONS = 10  # GitHub shows no more of one step
ROWS_ANNOTATED = 3  # of one amount


def github_lines(diff: Diff) -> str:
    """A line `::error file=,line=::` for each amount that is too much, at its first rows."""
    lines = [line for amount in diff.gate.failed for line in _annotated(diff, amount)]
    return "".join(f"{line}\n" for line in lines[:MOST_ANNOTATIONS])


def _annotated(diff: Diff, amount: Amount) -> Iterator[str]:
    words = _escaped(f"{amount.what}: {amount.excess}")
    places = [row for row in amount.rows if row in diff.lines][:ROWS_ANNOTATED]
    file = f"file={_property(diff.file)}" if diff.file else ""
    for row in places:
        yield f"::error {file},line={diff.lines[row]}::{words} (record {_escaped(row)})"
    if not places:
        yield f"::error {file}::{words}" if file else f"::error::{words}"


def _escaped(text: str) -> str:
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def junit(diff: Diff) -> str:
    """A test case for each amount; one that is too much fails with its sentence and rows."""
    amounts, failed = diff.gate.amounts, len(diff.gate.failed)
    cases = "".join(_case(diff, amount) for amount in amounts)
    name = quoteattr(one_line(f"claimlab diff {diff.after.dataset}"))
    head = f'<testsuite name={name} tests="{len(amounts)}" failures="{failed}">'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n{cases}</testsuite>\n'


def _case(diff: Diff, amount: Amount) -> str:
    name = quoteattr(one_line(amount.what))
    head = f"<testcase classname={quoteattr(one_line(amount.name))} name={name}"
    if amount.excess is None:
        return f"{head}/>\n"
    words = quoteattr(one_line(f"{amount.excess}{rows_in_words(diff, amount)}"))
    return f"{head}><failure message={words}/></testcase>\n"


def rows_in_words(diff: Diff, amount: Amount, most: int = ROWS_ANNOTATED) -> str:
    """The first rows behind an amount, with their lines where the source is a table."""
    if not amount.rows:
        return ""
    named = [
        f"{row} (line {diff.lines[row]})" if row in diff.lines else row
        for row in amount.rows[:most]
    ]
    rest = len(amount.rows) - len(named)
    others = f" and {several(rest, 'other')}" if rest else ""
    return f"; {', '.join(named)}{others}"
