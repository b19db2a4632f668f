"""A frozen sentence encoder and a linear model on its vectors: meaning instead of words, with nothing to fine-tune."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from claimlab.core.progress import Progress, silent
from claimlab.detect.detector import Prediction
from claimlab.detect.linear import Kind, Linear
from claimlab.detect.neural.embed import Vectors, open_embedder
from claimlab.detect.neural.files import MINILM, Device
from claimlab.detect.texts import texts_of


class Sentence:
    name: ClassVar[str] = "sentence"
    summary: ClassVar[str] = "Sentence embeddings (all-MiniLM-L6-v2, offline) with a linear model, tuned on dev."
    extra: ClassVar[str] = "embeddings"

    def __init__(
        self,
        *,
        model: str = MINILM,
        max_length: int = 256,
        device: Device = "auto",
        head: Kind = "logistic",
        strength: float | None = None,
    ) -> None:
        self.model = model
        self.max_length = max_length
        self.device: Device = device
        self.head: Kind = head
        self.strength = strength  # null: tuned
        self.progress: Progress = silent

    def parameters(self) -> dict[str, object]:
        set_to = {"model": self.model, "max_length": self.max_length, "head": self.head}
        return {**set_to, "strength": self.strength}

    def fit(
        self,
        train: pl.DataFrame,
        labels: Sequence[str],
        *,
        dev: pl.DataFrame | None = None,
        dev_labels: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        self.linear = Linear(self.head, self.strength)
        held = self._vectors(dev) if dev is not None and dev.height else None
        self.linear.fit(self._vectors(train), labels, dev=held, dev_labels=dev_labels, seed=seed)

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return self.linear.predict(self._vectors(records))

    def _vectors(self, records: pl.DataFrame) -> Vectors:
        embed = open_embedder(self.model, self.device, self.max_length)
        return embed(texts_of(records).to_list(), self.progress)


DETECTOR = Sentence
