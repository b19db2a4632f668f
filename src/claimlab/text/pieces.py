"""The tokens of a text, by sentencepiece, without waiting for its vocabulary.

Loading the model makes a tree of its 128,000 pieces, which takes as long as all other work on one
text. For a few texts a model of those pieces that occur in them, cut out of the file of the whole
one, has the same tokens: a piece that does not occur decides nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from claimlab.core.stats.scores import Ints
from claimlab.text.meaning import kept

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

CHARACTERS_WITHOUT_VOCABULARY = 4_000  # characters in all for which the vocabulary is not loaded
PIECE_FIELD = 1  # the field of the model that holds a piece; in a piece: its name, score and kind
NAME, SCORE, KIND = 1, 2, 3
PLAIN_KIND = b"\x01"
VARINT, FIXED = 0, 5  # how a number is written; everything else in a model has its length before it


class Pieces:
    """Texts to the numbers of their pieces."""

    def __init__(self, model: Path) -> None:
        self.model = model
        self.read = 0

    def __call__(self, texts: list[str]) -> list[list[int]]:
        """The tokens of each text, between those of its beginning and its end."""
        self.read += sum(map(len, texts))
        if self.read > CHARACTERS_WITHOUT_VOCABULARY:
            return _tokens(self._whole, texts)
        places = self._occurring(self._least.normalize(texts))
        numbers = self._table["number"][places].tolist()
        return [[numbers[piece] for piece in ids] for ids in _tokens(self._cut(places), texts)]

    @cached_property
    def _whole(self) -> SentencePieceProcessor:
        from sentencepiece import SentencePieceProcessor

        return SentencePieceProcessor(model_file=str(self.model))

    @cached_property
    def _least(self) -> SentencePieceProcessor:
        return self._cut(np.sort(self._always))

    @cached_property
    def _table(self) -> NDArray[np.void]:
        return kept("pieces", self.model, _table)

    @cached_property
    def _names(self) -> NDArray[np.bytes_]:
        return self._table["name"].copy()

    @cached_property
    def _always(self) -> Ints:
        return np.flatnonzero(self._table["always"])

    @cached_property
    def _content(self) -> bytes:
        return self.model.read_bytes()

    def _occurring(self, texts: Sequence[str]) -> Ints:
        """Where in the table the pieces are that occur in texts, in the order of the model."""
        longest = int(self._table["characters"].max())
        parts = {
            text[at : at + length].encode()
            for text in texts
            for at in range(len(text))
            for length in range(1, longest + 1)
        }
        names = np.array([*parts, b""], self._names.dtype)
        places = np.searchsorted(self._names, names).clip(max=len(self._names) - 1)
        matches = places[self._names[places] == names]
        places = np.unique(np.concatenate([self._always, matches]))
        return np.asarray(places[np.argsort(self._table["number"][places])])

    def _cut(self, places: Ints) -> SentencePieceProcessor:
        """A model of some pieces, and of everything in the file that is not a piece."""
        from sentencepiece import SentencePieceProcessor

        table = self._table[places]
        parts = [self._content[begin:end] for begin, end in table[["begin", "end"]].tolist()]
        rest = self._content[int(self._table["end"].max()) :]
        return SentencePieceProcessor(model_proto=b"".join([*parts, rest]))


def _tokens(model: SentencePieceProcessor, texts: list[str]) -> list[list[int]]:
    tokens: list[list[int]] = model.encode(texts, add_bos=True, add_eos=True, num_threads=1)
    return tokens


def _table(model: Path) -> NDArray[np.void]:
    """Where each piece is in the file, sorted by name. `always`: it is no plain piece, or its score
    is the highest or lowest, from which those of unknown characters follow."""
    content = model.read_bytes()
    rows: list[tuple[bytes, int, int, int, float | None]] = []
    for number, begin, value, end in _fields(content):
        if number == PIECE_FIELD:
            piece = content[value:end]
            facts = {field: piece[first:last] for field, _, first, last in _fields(piece)}
            is_plain = facts.get(KIND, PLAIN_KIND) == PLAIN_KIND
            score = struct.unpack("<f", facts[SCORE])[0] if is_plain else None
            rows.append((facts[NAME], len(rows), begin, end, score))
    scores = [row[-1] for row in rows if row[-1] is not None]
    special = (None, min(scores), max(scores))
    width = max(len(row[0]) for row in rows)
    kinds = [("name", f"S{width}"), ("number", "i4"), ("begin", "i4"), ("end", "i4")]
    return np.array(
        [(*row[:4], len(row[0].decode()), row[-1] in special) for row in sorted(rows)],
        np.dtype([*kinds, ("characters", "u1"), ("always", "?")]),
    )


def _fields(content: bytes) -> Iterator[tuple[int, int, int, int]]:
    """The fields of a protocol buffer: number, where it begins, and where its value is."""
    at = 0
    while at < len(content):
        begin, key, at = at, content[at], at + 1  # numbers of fields are small: a byte each
        value, size = at, 4
        if key & 7 != FIXED:
            size, shift = 0, 0
            while content[at] > 127:
                size, shift, at = size | (content[at] & 127) << shift, shift + 7, at + 1
            size, at = size | content[at] << shift, at + 1
        if key & 7 == VARINT:
            size = 0
        elif key & 7 != FIXED:
            value = at
        at += size
        yield key >> 3, begin, value, at
