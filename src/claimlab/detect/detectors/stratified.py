"""Draws its answers from the label distribution of the training rows: what luck alone achieves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from claimlab.core.stats.streams import share_of
from claimlab.core.types import JsonObject
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.learned import Learned


class Stratified(Detector):
    name = "stratified"
    summary = "Draws answers from the label distribution."
    quick = True
    from_scratch = True

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        tally = Counter(train.labels)
        self.classes = sorted(tally)
        self.shares = [tally[c] / len(train.labels) for c in self.classes]
        self.seed = seed

    def learned(self) -> JsonObject:
        return {"classes": self.classes, "shares": np.array(self.shares), "seed": self.seed}

    def recall(self, learned: Learned) -> None:
        self.classes, self.seed = learned.words("classes"), learned.whole("seed")
        self.shares = learned.array("shares", np.float64, [len(self.classes)]).tolist()

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        ends = np.cumsum(self.shares)
        scores = dict(zip(self.classes, self.shares, strict=True))
        # A number for each record alone: the answer is the same whatever else is asked about with
        # it.
        places = [share_of(self.seed, record) for record in records["id"].to_list()]
        drawn = np.minimum(np.searchsorted(ends, places, "right"), len(ends) - 1)
        return [Prediction(self.classes[i], dict(scores)) for i in drawn]


DETECTOR = Stratified
