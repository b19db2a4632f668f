"""One limit of a study's assurance, and the kinds there are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """One thing that was not checked, or was found and not ruled out. `about` names the dataset or
    run.
    """

    kind: str
    about: str
    sentence: str


KINDS = {
    "shift": "Missing tests of shifts in scope",
    "scope": "Scope left open",
    "not-audited": "Data not audited",
    "not-run": "Checks not run",
    "not-measured": "Checks that could not be measured",
    "inconclusive": "Inconclusive checks (too little data)",
    "found": "Open problems",
    "protocol": "Protocols, seeds and samples",
    "left-out": "Records left out",
    "run": "Evaluation runs",
    "contamination": "Models that may have met the test records",
    "judge": "Judges",
    "inspection": "Example predictions",
    "beyond": "What this program cannot check",
}
