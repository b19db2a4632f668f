"""Always answers with the most frequent class of the training rows: the floor under every score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from claimlab.detect.detector import Prediction


class Majority:
    name: ClassVar[str] = "majority"
    summary: ClassVar[str] = "Always answers with the most frequent class."

    def parameters(self) -> dict[str, object]:
        return {}

    def fit(
        self,
        train: pl.DataFrame,
        labels: Sequence[str],
        *,
        dev: pl.DataFrame | None = None,
        dev_labels: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        tally = Counter(labels)
        self.shares = {c: n / len(labels) for c, n in sorted(tally.items())}
        self.answer = min(tally, key=lambda c: (-tally[c], c))

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return [Prediction(self.answer, dict(self.shares)) for _ in range(records.height)]


DETECTOR = Majority
