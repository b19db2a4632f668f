"""The contract of a detector: `fit` learns from labelled records, `predict` answers for others without their labels.

A detector is one file in `detect/detectors/` with a module-level DETECTOR: a class whose keyword arguments are its
settings. Constructors store, `fit` learns, seeds are arguments. A run predicts in shards, so that it can be stopped and
taken up again: the answer for a record must not depend on which other records are asked about in the same call.

A detector may say more of itself; what it does not say is taken as the plain case:

    handles         what it must be handed before it can be asked: "model", "search" (constructor arguments); one
                    that is handed nothing asks nobody, and its answers cost nothing unless it says otherwise
    needs_training  False: it may run where there are no training rows
    reads_evidence  True: records reach it with a column `evidence`, a list of (id, text); else what is in that list is
                    put behind the text, so that any detector of texts can be run with evidence
    task            an attribute that is set to the task before `fit`
    extra           the extra of claimlab that it needs; what is missing is a sentence with the pip line
    trial           settings that make it cheap enough to try: the test that walks every detector uses them
    progress        an attribute that is set to a Progress before `predict`, for answers that take long
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import polars as pl

from claimlab.core.registry import Registry
from claimlab.search.evidence import Evidence

ABSTAINED = ("no-evidence", "insufficient-evidence")


@dataclass(frozen=True)
class Prediction:
    """A label, a score per class (they need not sum to one), and, where the detector can, why.

    A prediction that failed has a null label and a `failure`: it is counted, never guessed. A detector that declines
    to answer for want of evidence has a null label and says so in `abstained`: that is an answer, not a failure.
    """

    label: str | None
    scores: dict[str, float] = field(default_factory=dict)
    rationale: str | None = None
    evidence_ids: tuple[str, ...] = ()
    cost: float | None = None  # US dollars; null: not known
    seconds: float | None = None
    failure: str | None = None
    abstained: str | None = None  # one of ABSTAINED
    found: tuple[Evidence, ...] = ()  # what it found by searching: goes into the run's evidence table
    notes: Mapping[str, Any] = field(default_factory=dict)  # more to tell, JSON-safe; goes into `meta`


class Detector(Protocol):
    name: ClassVar[str]
    summary: ClassVar[str]

    def parameters(self) -> dict[str, object]:
        """What this detector was set to, JSON-safe."""
        ...

    def fit(
        self,
        train: pl.DataFrame,
        labels: Sequence[str],
        *,
        dev: pl.DataFrame | None,
        dev_labels: Sequence[str] | None,
        seed: int,
    ) -> None: ...

    def predict(self, records: pl.DataFrame) -> list[Prediction]: ...


DETECTORS: Registry[type[Detector]] = Registry(
    "detector", package="claimlab.detect.detectors", attribute="DETECTOR", group="claimlab.detectors"
)


def handles(detector: type[Detector] | Detector) -> tuple[str, ...]:
    """What the detector must be handed before it can be asked."""
    return tuple(getattr(detector, "handles", ()))
