"""Texts as batches of token numbers. Texts of like length share a batch, so that little of it is
padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from claimlab.detect.pretrained import Tensor, Tokenizer, require_torch

BATCHES_SORTED = 50  # batches among which texts are sorted by length: still near a random order


@dataclass(frozen=True)
class Tokens:
    """Token numbers per text, cut at `max_length`, and the number that fills up a batch."""

    ids: list[list[int]]
    padding: int

    @classmethod
    def of(cls, tokenizer: Tokenizer, texts: Sequence[str], max_length: int) -> Tokens:
        ids = tokenizer(
            list(texts), truncation=True, max_length=max_length, add_special_tokens=True
        )["input_ids"]
        return cls(ids, tokenizer.pad_token_id or 0)

    def __len__(self) -> int:
        return len(self.ids)

    def batch(self, rows: Sequence[int], device: str) -> tuple[Tensor, Tensor]:
        """Numbers and mask of these rows, as wide as the longest of them."""
        torch = require_torch()
        width = max(1, max(len(self.ids[row]) for row in rows))
        numbers = np.full((len(rows), width), self.padding, np.int64)
        mask = np.zeros((len(rows), width), np.int64)
        for i, row in enumerate(rows):
            numbers[i, : len(self.ids[row])] = self.ids[row]
            mask[i, : len(self.ids[row])] = 1
        return torch.from_numpy(numbers).to(device), torch.from_numpy(mask).to(device)

    def in_order(self, size: int) -> Iterator[list[int]]:
        """Batches by falling length: for reading every text once."""
        order = sorted(range(len(self)), key=lambda row: -len(self.ids[row]))
        yield from (order[i : i + size] for i in range(0, len(order), size))

    def shuffled(self, size: int, rng: np.random.Generator) -> list[list[int]]:
        """Batches for one epoch, in an order that the generator decides."""
        order = rng.permutation(len(self)).tolist()
        batches = []
        for start in range(0, len(order), size * BATCHES_SORTED):
            pool = sorted(
                order[start : start + size * BATCHES_SORTED], key=lambda row: len(self.ids[row])
            )
            batches += [pool[i : i + size] for i in range(0, len(pool), size)]
        return [batches[i] for i in rng.permutation(len(batches))]
