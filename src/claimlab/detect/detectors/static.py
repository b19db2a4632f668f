"""Static word vectors, averaged, and a linear model: between a bag of words and a sentence encoder,
at the price of the first. The vectors come with the package wordllama; nothing is downloaded."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.errors import MissingExtra
from claimlab.core.types import JsonObject
from claimlab.detect.detector import Detector, Part, Prediction, texts_of
from claimlab.detect.learned import Learned
from claimlab.detect.linear import Kind, Linear


class Static(Detector):
    name: ClassVar[str] = "static"
    summary: ClassVar[str] = (
        "Averaged static word vectors (wordllama) with a linear model, tuned on dev."
    )
    quick: ClassVar[bool] = True
    extra: ClassVar[str | None] = "embeddings"

    def __init__(self, *, head: Kind = "logistic", strength: float | None = None) -> None:
        self.head: Kind = head
        self.strength = strength  # null: tuned

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.linear = Linear(self.head, self.strength)
        held = vectors(dev.records) if dev.labels else None
        self.linear.fit(
            vectors(train.records), train.labels, dev=held, dev_labels=dev.labels, seed=seed
        )

    def learned(self) -> JsonObject:
        return {"linear": self.linear.learned()}

    def recall(self, learned: Learned) -> None:
        self.linear = Linear(self.head, self.strength)
        self.linear.recall(learned.part("linear"))

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return self.linear.predict(vectors(records))


def vectors(records: pl.DataFrame) -> npt.NDArray[np.float32]:
    """One vector of unit length per record; zeros for a text without a word."""
    texts = texts_of(records).to_list()
    raw = (
        np.asarray(_words().embed(texts, norm=False), np.float32)
        if texts
        else np.empty((0, 256), np.float32)
    )
    length = np.linalg.norm(raw, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = np.divide(raw, length, out=np.zeros_like(raw), where=length > 0)
    return unit


@cache
def _words() -> Any:
    try:
        import wordllama
    except ImportError:
        raise MissingExtra("The detector 'static'", "embeddings") from None
    # Its own folder given as the cache: the wheel holds the tokenizer where only a cache is looked
    # for.
    return wordllama.WordLlama.load(
        cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )


DETECTOR = Static
