"""One limit of a study's assurance, and the kinds there are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """One thing that was not checked, or was found and not ruled out. `about` names the dataset or run."""

    kind: str
    about: str
    sentence: str


KINDS = {
    "not-audited": "Data that was not audited",
    "not-run": "Checks that were not run",
    "not-measured": "Checks that could not be measured",
    "inconclusive": "Checks that the data is too small to settle",
    "found": "Open problems",
    "protocol": "Protocols, seeds and samples",
    "left-out": "Records that were left out",
    "run": "The evaluation run",
    "judge": "Judges",
    "inspection": "Looking at examples",
    "beyond": "What this program cannot check",
}
