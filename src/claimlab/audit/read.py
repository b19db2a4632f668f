"""Audits read back from a report folder: `audit.json` holds the findings, everything else there is
a view of them.
"""

from __future__ import annotations

import json
from pathlib import Path

from claimlab.audit.result import Audit
from claimlab.core.errors import DataError

FILE = "audit.json"


def read_audits(folder: Path) -> list[Audit]:
    """The audits saved in a report folder, or in an `audit.json` itself."""
    file = folder / FILE if folder.is_dir() else folder
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        return [Audit.from_json(a) for a in raw["audits"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"'{file}' is not a saved audit: {error}.",
            "Make one with: claimlab audit DIR -o FOLDER",
        ) from None
