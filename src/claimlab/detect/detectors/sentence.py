"""A frozen sentence encoder and a linear model on its vectors: meaning instead of words, with
nothing to fine-tune.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.detect.detector import Detector, Part, Prediction, texts_of
from claimlab.detect.learned import Learned
from claimlab.detect.linear import Kind, Linear
from claimlab.detect.neural.embed import Vectors, open_embedder
from claimlab.detect.neural.files import MINILM, Device, choose_device


class Sentence(Detector):
    name: ClassVar[str] = "sentence"
    summary: ClassVar[str] = (
        "Sentence embeddings (all-MiniLM-L6-v2, offline) with a linear model, tuned on dev."
    )
    extra: ClassVar[str | None] = "embeddings"
    unreported: ClassVar[frozenset[str]] = frozenset({"device"})

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

    def keep(self, folder: Path) -> bool:
        return choose_device(self.device) == "cpu" and super().keep(
            folder
        )  # one GPU is not shared by processes

    def take_up(self, folder: Path) -> None:
        super().take_up(folder)
        self.device = "cpu"

    def _vectors(self, records: pl.DataFrame) -> Vectors:
        embed = open_embedder(self.model, self.device, self.max_length)
        return embed(texts_of(records).to_list(), self.progress)


DETECTOR = Sentence
