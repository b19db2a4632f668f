"""Static word vectors, averaged, and a linear model: between a bag of words and a sentence encoder,
at the price of the first. The vectors come with the package wordllama; nothing is downloaded."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.errors import MissingExtra
from claimlab.core.stats.scores import Floats32
from claimlab.detect.detector import texts_of
from claimlab.detect.linear import LinearOnVectors


class Static(LinearOnVectors):
    name = "static"
    summary = "Averaged static word vectors (wordllama) with a linear model, tuned on dev."
    quick = True
    extra = "embeddings"

    def vectors(self, records: pl.DataFrame) -> Floats32:
        """One vector of unit length per record; zeros for a text without a word."""
        texts = texts_of(records).to_list()
        raw = (
            np.asarray(_words().embed(texts, norm=False), np.float32)
            if texts
            else np.empty((0, 256), np.float32)
        )
        length = np.linalg.norm(raw, axis=1, keepdims=True)
        unit: Floats32 = np.divide(raw, length, out=np.zeros_like(raw), where=length > 0)
        return unit


DETECTOR = Static


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
