"""What the stages of the demo pass on to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from claimlab.audit.result import Audit
from claimlab.clean.run import Cleaned
from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.generate.planted import Truth
from claimlab.pages.blocks import Block


@dataclass
class Tour:
    """What the stages made so far."""

    folder: Path
    seed: int
    dataset: Dataset
    twin: Dataset
    truth: Truth
    progress: Progress = silent
    audit: Audit | None = None
    twin_audit: Audit | None = None
    cleaned: Cleaned | None = None
    twin_cleaned: Cleaned | None = None
    found: dict[str, str] = field(default_factory=dict)  # defect -> where it was found
    sections: list[Block] = field(default_factory=list)
    enriched: JsonObject = field(
        default_factory=dict
    )  # what became of the claims that were searched for
    reviewed: JsonObject = field(
        default_factory=dict
    )  # items, and the verdict on the finding after the review
