"""A frozen sentence encoder and a linear model on its vectors: meaning instead of words, with
nothing to fine-tune.

Texts as vectors of a frozen encoder: mean over the tokens, unit length. A list of texts is read
once.

A text of another list is read again: the last digits of a vector depend on the texts that it was
read with, and a run that goes on after a stop, or in other processes, has read no others before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.progress import Progress, silent
from claimlab.core.stats.scores import Floats32
from claimlab.detect.detector import texts_of
from claimlab.detect.linear import Kind, LinearOnVectors
from claimlab.detect.neural import (
    MINILM,
    Device,
    Tensor,
    Tokens,
    choose_device,
    open_model,
    pooled,
    require_torch,
)

Vectors = Floats32
BATCH = 64
KEPT = 100_000  # vectors in memory, 1.5 kB each for the small model


class Embedder:
    def __init__(self, model: str, device: Device, max_length: int) -> None:
        self.device = choose_device(device)
        self.max_length = max_length
        self.tokenizer, body = open_model(model)
        self.body = body.to(self.device).eval()
        self.known: dict[tuple[str, ...], Vectors] = {}

    def __call__(self, texts: Sequence[str], progress: Progress = silent) -> Vectors:
        """One row per text, in order."""
        once = tuple(sorted(set(texts)))
        if once not in self.known:
            vectors = self._read(list(once), progress)
            if sum(map(len, self.known)) + len(once) > KEPT:
                self.known.clear()
            self.known[once] = vectors
        place = {text: row for row, text in enumerate(once)}
        return self.known[once][[place[text] for text in texts]]

    def _read(self, texts: list[str], progress: Progress) -> Vectors:
        torch = require_torch()
        tokens = Tokens.of(self.tokenizer, texts, self.max_length) if texts else Tokens([], 0)
        out = np.zeros((len(texts), self.body.config.hidden_size), np.float32)
        done = 0
        with torch.inference_mode():
            for rows in tokens.in_order(BATCH):
                numbers, mask = tokens.batch(rows, self.device)
                hidden = self.body(input_ids=numbers, attention_mask=mask).last_hidden_state
                unit: Tensor = torch.nn.functional.normalize(pooled(hidden, mask, "mean"), dim=1)
                out[rows] = unit.cpu().numpy()
                done += len(rows)
                progress("embedding", done, len(texts))
        return out


@cache
def open_embedder(model: str, device: Device, max_length: int) -> Embedder:
    """One embedder for each setting, so that several runs in one process read a text once."""
    return Embedder(model, device, max_length)


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
