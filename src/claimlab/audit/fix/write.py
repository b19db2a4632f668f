"""The mended dataset on disk, with the audit before and after beside it in `report/`."""

from __future__ import annotations

from pathlib import Path

from claimlab.audit.fix.mend import Mended
from claimlab.audit.result import Audit
from claimlab.audit.views.compare import compared
from claimlab.audit.write import contents
from claimlab.core.atomic import atomic_folder
from claimlab.core.dataset import refuse_overwrite
from claimlab.pages.folder import fill

REPORT = "report"


def write_mended(mended: Mended, before: Audit, after: Audit, folder: Path, *, force: bool = False) -> None:
    """Write the dataset folder and its report in one atomic step."""
    refuse_overwrite(folder, force)
    with atomic_folder(folder) as building:
        both = contents([before, after], lambda parts, detail: compared(parts[0], parts[1], mended, detail))
        fill(both, building / REPORT)
        mended.dataset.files = mended.dataset.write_into(building).files
    mended.dataset.path = folder
