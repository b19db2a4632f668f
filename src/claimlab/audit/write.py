"""An audit on disk: `audit.json` holds the findings, everything else beside it is a view of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from claimlab.audit.run import Audit
from claimlab.audit.view import audit_report
from claimlab.core.atomic import atomic_folder
from claimlab.core.errors import DataError, OutputExists
from claimlab.report.html import to_html

FILE = "audit.json"


def write_audits(audits: Sequence[Audit], folder: Path, *, force: bool = False) -> None:
    """Write the report folder in one atomic step; an older report is replaced only with `force`."""
    if folder.exists() and any(folder.iterdir()) and not (force and (folder / FILE).is_file()):
        raise OutputExists(folder)
    with atomic_folder(folder) as building:
        text = json.dumps({"audits": [a.to_json() for a in audits]}, ensure_ascii=False, indent=1, sort_keys=True)
        (building / FILE).write_text(text + "\n", encoding="utf-8")
        (building / "index.html").write_text(to_html(audit_report(audits)), encoding="utf-8")


def read_audits(folder: Path) -> list[Audit]:
    """The audits saved in a report folder, or in an `audit.json` itself."""
    file = folder / FILE if folder.is_dir() else folder
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        return [Audit.from_json(a) for a in raw["audits"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"'{file}' is not a saved audit: {error}.", "Make one with: claimlab audit DIR -o FOLDER"
        ) from None
