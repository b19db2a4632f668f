"""Draws its answers from the label distribution of the training rows: what luck alone achieves."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.stats.streams import share_of
from claimlab.core.types import JsonObject
from claimlab.detect.detector import Part, Prediction
from claimlab.detect.detectors.majority import Majority
from claimlab.detect.learned import Learned


class Stratified(Majority):
    name = "stratified"
    summary = "Draws answers from the label distribution."

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        super().fit(train, dev, seed=seed)
        self.seed = seed

    def learned(self) -> JsonObject:
        return {**super().learned(), "seed": self.seed}

    def recall(self, learned: Learned) -> None:
        super().recall(learned)
        self.seed = learned.whole("seed")

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        classes, shares = list(self.shares), np.array(list(self.shares.values()))
        return [
            Prediction(classes[i], dict(self.shares)) for i in drawn(records, shares, self.seed)
        ]


DETECTOR = Stratified


def drawn(records: pl.DataFrame, shares: Floats, seed: int) -> Ints:
    """The class of each record, at random in these shares. A number for each record alone: the
    answer is the same whatever else is asked about with it.
    """
    places = [share_of(seed, record) for record in records["id"]]
    return np.minimum(np.searchsorted(np.cumsum(shares), places, "right"), len(shares) - 1)
