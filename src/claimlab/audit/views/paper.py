"""The audit as tables for a paper: narrow enough for a printed page, no charts, no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimlab.audit.result import Audit
from claimlab.audit.views.matrix import matrix
from claimlab.audit.views.wording import (
    VERDICT_WORDS,
    check_title,
    conclusion_blocks,
    headline,
    ordered,
    protocol_sections,
)
from claimlab.core.finding import VERDICTS
from claimlab.pages.blocks import Block, Cell, Report, Section, Table, Text, percent, span
from claimlab.pages.excerpt import excerpt


def paper(audits: Sequence[Audit]) -> Report:
    blocks: list[Block] = [matrix(audits, {})] if len(audits) > 1 else []
    for audit in audits:
        blocks.append(
            Section(
                excerpt(audit.dataset, 80),
                [Text(headline(audit)), *conclusion_blocks(audit), findings_table(audit)],
            )
        )
    return Report("Audit of datasets", "", [*blocks, protocol_sections(audits)])


def findings_table(audit: Audit) -> Table:
    rows: list[list[Any]] = [
        [
            check_title(f.check),
            excerpt(f.feature, 36) if f.feature else "",
            Cell(VERDICT_WORDS[f.verdict], sort=None, tone=f.verdict),
            percent(f.score),
            span(f.interval),
            percent(f.baselines.best()),
            f.n,
        ]
        for f in ordered(audit.findings)
        if f.verdict in VERDICTS
    ]
    columns = ["Check", "Feature", "Verdict", "Score", "95% interval", "Best baseline", "n"]
    return Table(columns, rows, "Macro-F1 in %, next to the best of three baselines.")
