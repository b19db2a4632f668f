"""What a saved audit found in the very records that are exported, for formats that tell their
readers.
"""

from __future__ import annotations

import json
from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.finding import Finding


def findings_in(audit: str, dataset: Dataset) -> list[Finding]:
    """The findings of a saved audit; one of other records, or of these before they were changed, is
    refused.
    """
    place = Path(audit)
    file = place / "audit.json" if place.is_dir() else place
    try:
        audits = json.loads(file.read_text(encoding="utf-8"))["audits"]
        own = [a for a in audits if a["digest"] == dataset.digest()]
        findings = [Finding.model_validate(f) for a in own for f in a["findings"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"'{file}' is not a saved audit: {error}.",
            "Make one with: claimlab audit DIR -o FOLDER",
        ) from None
    if not own:
        raise DataError(
            f"'{audit}' is not an audit of '{dataset.name}' as it is now.",
            "Audit the dataset again.",
        )
    return findings
