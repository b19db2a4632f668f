"""Always answers with the most frequent class of the training rows: the floor under every score."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from claimlab.core.types import JsonObject
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.learned import Learned


class Majority(Detector):
    name = "majority"
    summary = "Always answers with the most frequent class."
    quick = True
    from_scratch = True

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        tally = Counter(train.labels)
        self.shares = {c: n / len(train.labels) for c, n in sorted(tally.items())}
        self.answer = min(tally, key=lambda c: (-tally[c], c))

    def learned(self) -> JsonObject:
        return {
            "classes": list(self.shares),
            "shares": np.array(list(self.shares.values())),
            "answer": self.answer,
        }

    def recall(self, learned: Learned) -> None:
        classes = learned.words("classes")
        shares = learned.array("shares", np.float64, [len(classes)]).tolist()
        self.shares, self.answer = dict(zip(classes, shares, strict=True)), learned.word("answer")

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return [Prediction(self.answer, dict(self.shares)) for _ in range(records.height)]


DETECTOR = Majority
