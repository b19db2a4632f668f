"""A frozen sentence encoder and a linear model on its vectors: meaning instead of words, with
nothing to fine-tune.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.detect.detector import texts_of
from claimlab.detect.embedder import Vectors, open_embedder
from claimlab.detect.linear import Kind, LinearOnVectors
from claimlab.detect.pretrained import (
    MINILM,
    Device,
    choose_device,
)


class Sentence(LinearOnVectors):
    name = "sentence"
    summary = "Sentence embeddings (all-MiniLM-L6-v2, offline) with a linear model, tuned on dev."
    extra = "embeddings"
    unreported = frozenset({"device"})

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
        super().__init__(head=head, strength=strength)

    def keep(self, folder: Path) -> bool:
        return choose_device(self.device) == "cpu" and super().keep(
            folder
        )  # one GPU is not shared by processes

    def take_up(self, folder: Path) -> None:
        super().take_up(folder)
        self.device = "cpu"

    def vectors(self, records: pl.DataFrame) -> Vectors:
        embed = open_embedder(self.model, self.device, self.max_length)
        return embed(texts_of(records).to_list(), self.progress)


DETECTOR = Sentence
