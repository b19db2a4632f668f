"""Words and character n-grams, weighted by TF-IDF, in a linear model: the classic that is hard to beat for its price.

The regularisation is tuned on the dev rows when there are any, otherwise by cross-validation inside the training rows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from claimlab.core.errors import UsageError
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.linear import Kind, Linear
from claimlab.detect.ngrams import Characters, TfIdf, Words
from claimlab.detect.texts import texts_of


class Tfidf(Detector):
    name: ClassVar[str] = "tfidf"
    summary: ClassVar[str] = "Word and character TF-IDF with a linear model, tuned on dev."

    def __init__(
        self, *, words: bool = True, characters: bool = True, model: Kind = "svm", strength: float | None = None
    ) -> None:
        if not (words or characters):
            raise UsageError("tfidf has neither words nor characters to count.", "Leave one of the two on.")
        self.words = words
        self.characters = characters
        self.model: Kind = model
        self.strength = strength  # null: tuned

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.parts = [TfIdf(Words(), most=200_000)] if self.words else []
        self.parts += [TfIdf(Characters(), most=300_000)] if self.characters else []
        texts = texts_of(train.records)
        matrix = _beside([part.fit_transform(texts) for part in self.parts])
        held = self._matrix(dev.records) if dev.labels else None
        self.linear = Linear(self.model, self.strength)
        self.linear.fit(matrix, train.labels, dev=held, dev_labels=dev.labels, seed=seed)

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return self.linear.predict(self._matrix(records))

    def _matrix(self, records: pl.DataFrame) -> Any:
        texts = texts_of(records)
        return _beside([part.transform(texts) for part in self.parts])


def _beside(parts: list[Any]) -> Any:
    from scipy.sparse import hstack

    return hstack(parts).tocsr()


DETECTOR = Tfidf
