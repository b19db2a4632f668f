"""Draws its answers from the label distribution of the training rows: what luck alone achieves."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from claimlab.detect.detector import Prediction


class Stratified:
    name: ClassVar[str] = "stratified"
    summary: ClassVar[str] = "Draws answers from the label distribution."

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
        self.classes = sorted(tally)
        self.shares = [tally[c] / len(labels) for c in self.classes]
        self.seed = seed

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        ends = np.cumsum(self.shares)
        scores = dict(zip(self.classes, self.shares, strict=True))
        drawn = [min(int(np.searchsorted(ends, self._lot(i), "right")), len(ends) - 1) for i in records["id"].to_list()]
        return [Prediction(self.classes[i], dict(scores)) for i in drawn]

    def _lot(self, record: str) -> float:
        """A number in [0, 1) that hangs on the seed and the record alone, whatever else is asked about with it."""
        digest = hashlib.sha256(f"{self.seed}:{record}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:7]) / 256**7


DETECTOR = Stratified
