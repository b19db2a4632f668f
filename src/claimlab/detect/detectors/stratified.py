"""Draws its answers from the label distribution of the training rows: what luck alone achieves."""

from __future__ import annotations

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
        train: pl.DataFrame,  # noqa: ARG002
        labels: Sequence[str],
        *,
        dev: pl.DataFrame | None = None,  # noqa: ARG002
        dev_labels: Sequence[str] | None = None,  # noqa: ARG002
        seed: int = 0,
    ) -> None:
        tally = Counter(labels)
        self.classes = sorted(tally)
        self.shares = [tally[c] / len(labels) for c in self.classes]
        self.seed = seed

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        drawn = np.random.default_rng(self.seed).choice(len(self.classes), size=records.height, p=self.shares)
        scores = dict(zip(self.classes, self.shares, strict=True))
        return [Prediction(self.classes[int(i)], dict(scores)) for i in drawn]


DETECTOR = Stratified
