"""Texts as vectors of a frozen encoder: mean over the tokens, unit length. A list of texts is read
once. A text of another list is read again: the last digits of a vector depend on the texts that it
was read with, and a run that goes on after a stop, or in other processes, has read no others
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from claimlab.core.progress import Progress, silent
from claimlab.core.stats.scores import Floats32
from claimlab.detect.fine_tuning import pooled
from claimlab.detect.pretrained import Device, Tensor, choose_device, open_model, require_torch
from claimlab.detect.token_batches import Tokens

Vectors = Floats32
TEXTS_PER_BATCH = 64
VECTORS_KEPT = 100_000  # vectors in memory, 1.5 kB each for the small model


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
            if sum(map(len, self.known)) + len(once) > VECTORS_KEPT:
                self.known.clear()
            self.known[once] = vectors
        place = {text: row for row, text in enumerate(once)}
        return self.known[once][[place[text] for text in texts]]

    def _read(self, texts: list[str], progress: Progress) -> Vectors:
        torch = require_torch()
        tokens = Tokens.of(self.tokenizer, texts, self.max_length) if texts else Tokens([], 0)
        out = np.zeros((len(texts), self.body.config.hidden_size), np.float32)
        read = 0
        with torch.inference_mode():
            for rows in tokens.in_order(TEXTS_PER_BATCH):
                numbers, mask = tokens.batch(rows, self.device)
                hidden = self.body(input_ids=numbers, attention_mask=mask).last_hidden_state
                unit: Tensor = torch.nn.functional.normalize(pooled(hidden, mask, "mean"), dim=1)
                out[rows] = unit.cpu().numpy()
                read += len(rows)
                progress("embedding", read, len(texts))
        return out


@cache
def open_embedder(model: str, device: Device, max_length: int) -> Embedder:
    """One embedder for each setting, so that several runs in one process read a text once."""
    return Embedder(model, device, max_length)
