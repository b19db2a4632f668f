"""The report that lies in the folder of a fixed dataset: the audit before and after, side by
side.
"""

from __future__ import annotations

from claimlab.audit.fix.repair import Repaired
from claimlab.audit.result import Audit
from claimlab.audit.views.compare import compared
from claimlab.audit.write import contents
from claimlab.pages.folder import Contents

REPORT = "report"


def both(repaired: Repaired, before: Audit, after: Audit) -> Contents:
    return contents(
        [before, after], lambda parts, detail: compared(parts[0], parts[1], repaired, detail)
    )
