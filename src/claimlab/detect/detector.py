"""The contract of a detector: `fit` learns from labelled records, `predict` answers for others without their labels.

A detector is one file in `detect/detectors/` with a module-level DETECTOR: a class whose keyword arguments are its
settings. Constructors store, `fit` learns, seeds are arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import polars as pl

from claimlab.core.registry import Registry


@dataclass(frozen=True)
class Prediction:
    """A label, a score per class (they need not sum to one), and, where the detector can, why.

    A prediction that failed has a null label and a `failure`: it is counted, never guessed.
    """

    label: str | None
    scores: dict[str, float] = field(default_factory=dict)
    rationale: str | None = None
    evidence_ids: tuple[str, ...] = ()
    cost: float | None = None
    seconds: float | None = None
    failure: str | None = None


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
