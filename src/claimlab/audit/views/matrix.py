"""Datasets against checks: the most severe verdict of each, on one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimlab.audit.result import Audit
from claimlab.audit.views.wording import MARKS, check_title
from claimlab.core.finding import VERDICTS
from claimlab.pages.blocks import Cell, Section, Table

NOTE = (
    "✗ fail, ! warn, ? inconclusive, ✓ pass, – not measured, · not run; the number is the score of"
    " the most severe finding, in %."
)


def matrix(audits: Sequence[Audit], links: Mapping[tuple[int, str], str]) -> Section:
    """One row per audit; `links` leads from (number of the audit, check) to its section."""
    checks = sorted(
        {f.check for a in audits for f in a.findings}, key=lambda c: (-_fails(audits, c), c)
    )
    rows = [
        [
            Cell(audit.dataset, link=links.get((number, ""))),
            *(_cell(audit, number, check, links) for check in checks),
        ]
        for number, audit in enumerate(audits)
    ]
    table = Table(["Dataset", *map(check_title, checks)], rows, NOTE, upright=True)
    return Section("Overview matrix", [table], "matrix")


def _cell(audit: Audit, number: int, check: str, links: Mapping[tuple[int, str], str]) -> Any:
    worst = audit.worst(check)
    if worst is None:
        return Cell("·", sort=9.0)
    score = f" {100 * worst.score:.0f}" if worst.score is not None else ""
    # Sorts by verdict, then by score within it.
    order = VERDICTS.index(worst.verdict) - (worst.score or 0.0) / 2
    return Cell(
        MARKS[worst.verdict] + score,
        sort=float(order),
        tone=worst.verdict,
        title=worst.why,
        link=links.get((number, check)),
    )


def _fails(audits: Sequence[Audit], check: str) -> int:
    return sum(
        worst is not None and worst.verdict == "fail" for worst in (a.worst(check) for a in audits)
    )
