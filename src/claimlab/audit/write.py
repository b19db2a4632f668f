"""An audit on disk: `audit.json` holds the findings, everything else beside it is a view of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from claimlab.audit.read import FILE
from claimlab.audit.result import Audit
from claimlab.audit.views.page import DETAILS, Chapter, Detail, chapters, paper, report
from claimlab.core.guard import AUDIT
from claimlab.pages.blocks import Report
from claimlab.pages.folder import Contents, write_report

KIND = AUDIT
Page = Callable[[Sequence[Chapter], Detail], Report]


def write_audits(audits: Sequence[Audit], folder: str | Path, *, force: bool = False) -> None:
    """Write the report folder in one atomic step."""
    write_report(contents(audits), Path(folder), force=force)


def contents(audits: Sequence[Audit], page: Page = report) -> Contents:
    """What the report on `audits` holds; `page` says what its page holds."""
    parts = chapters(audits)
    return Contents(
        KIND,
        (page(parts, detail) for detail in DETAILS),
        data={FILE: {"audits": [a.to_json() for a in audits]}},
        papers={"report.tex": paper(audits)},
    )
