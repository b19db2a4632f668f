"""Sentence vectors that are worked out once: each text's is kept under the digest of its words.

`encode` keeps them for a process; this keeps them for the next one. The cache (`core/places`) has
256 files, by the first byte of the digest, each written whole or not at all; it can be deleted at
any time. Vectors are kept in half precision, and used so whether they were kept or are new: the
same texts give the same vectors.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from claimlab.core.atomic import atomic_bytes
from claimlab.core.places import cache_folder
from claimlab.core.progress import progress
from claimlab.core.stats.scores import Floats32
from claimlab.text.vectors import CHARACTERS_READ, encode, key_of

TEXTS_PER_WRITE = 8_192  # texts that are encoded before their vectors are put away
ENCODER_VERSION = "usem3-2"  # of the encoder and what it reads: others are not these
DIMENSIONS = 512


def vectors_of(texts: Sequence[str]) -> Floats32:
    """A unit vector for each text, of its first 400 characters: from the cache, or encoded now."""
    beginnings = [text[:CHARACTERS_READ] for text in texts]
    keys = [key_of(text) for text in beginnings]
    store = Store(cache_folder() / "vectors" / ENCODER_VERSION)
    stored = store.read(set(keys))
    missing = {key: text for key, text in zip(keys, beginnings, strict=True) if key not in stored}
    todo = sorted(missing, key=lambda key: (len(missing[key]), key))  # alike in length: quicker
    for start in range(0, len(todo), TEXTS_PER_WRITE):
        progress("encoding texts", start, len(todo))
        part = todo[start : start + TEXTS_PER_WRITE]
        fresh = dict(
            zip(part, encode([missing[key] for key in part]).astype(np.float16), strict=True)
        )
        store.add(fresh)
        stored |= fresh
    progress("encoding texts", len(todo), len(todo))
    if not keys:
        return np.empty((0, DIMENSIONS), np.float32)
    return np.stack([stored[key] for key in keys]).astype(np.float32)


Vector = np.ndarray[tuple[int], np.dtype[np.float16]]


class Store:
    """The files of the cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, keys: set[bytes]) -> dict[bytes, Vector]:
        """The vectors of those keys that are kept."""
        vectors: dict[bytes, Vector] = {}
        for first in sorted({key[0] for key in keys}):
            vectors |= {key: v for key, v in self._file(first).items() if key in keys}
        return vectors

    def add(self, vectors: dict[bytes, Vector]) -> None:
        """Keep these too. A cache that cannot be written is done without."""
        for first in sorted({key[0] for key in vectors}):
            content = self._file(first) | {k: v for k, v in vectors.items() if k[0] == first}
            names = np.frombuffer(b"".join(content), np.uint8).reshape(-1, 16)
            buffer = io.BytesIO()
            np.savez(buffer, keys=names, vectors=np.stack(list(content.values())))
            try:
                atomic_bytes(self._place(first), buffer.getvalue())
            except OSError:
                return

    def _place(self, first: int) -> Path:
        return self.folder / f"{first:02x}.npz"

    def _file(self, first: int) -> dict[bytes, Vector]:
        try:
            with np.load(self._place(first), allow_pickle=False) as archive:
                keys, vectors = archive["keys"], archive["vectors"]
                return {key.tobytes(): row for key, row in zip(keys, vectors, strict=True)}
        except (OSError, ValueError, KeyError):
            return {}  # none yet, or a damaged one: made again
