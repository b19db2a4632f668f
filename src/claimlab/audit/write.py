"""An audit on disk: `audit.json` holds the findings, everything else beside it is a view of
them.

The report that lies in the folder of a fixed dataset: the audit before and after, side by
side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from claimlab.audit.fix import Repaired
from claimlab.audit.result import FILE, Audit
from claimlab.audit.views.page import DETAILS, Chapter, Detail, chapters, compared, paper, report
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


REPORT = "report"


def both(repaired: Repaired, before: Audit, after: Audit) -> Contents:
    return contents(
        [before, after], lambda parts, detail: compared(parts[0], parts[1], repaired, detail)
    )
