"""What the compiled kernel and its NumPy fallback both offer, and the choice between them.

The arithmetic that the compiled kernel and the NumPy code share: constants, the mixer, the salts
of the rounds.

The choice between the compiled kernel and its NumPy fallback.

CLAIMLAB_NEARDUP=numpy forces the NumPy code; CLAIMLAB_NEARDUP=compiled refuses to run without the
compiled one. Both give the same pairs; only the speed differs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.progress import Progress
from claimlab.text.neardup.bands import Plan

Unit = Literal["char", "word"]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Grams:
    """What a text is cut into: runs of `ngram` characters, or of `ngram` words."""

    ngram: int = 5
    unit: Unit = "char"

    def __post_init__(self) -> None:
        if self.unit not in ("char", "word"):
            raise UsageError(f"There is no unit '{self.unit}'.", "Give 'char' or 'word'.")
        if not 1 <= self.ngram <= 1000:
            raise UsageError(
                f"An n-gram of {self.ngram} is not possible.", "Give a whole number from 1 to 1000."
            )


@dataclass(frozen=True)
class Sketches:
    """All that is kept of the texts while candidates are looked for.

    `keys[band, row]` agree where a band agrees; `bits[row]` is a bitmap of the grams; `hashes[row]`
    tell identical texts; `counts[row]` is the number of grams, repeats included (0: an empty text).
    """

    keys: U32
    bits: U64
    hashes: U64
    counts: U32


class Bitmaps(Protocol):
    """The part of Sketches that rules out dissimilar texts; in memory, or mapped from a file."""

    @property
    def bits(self) -> U64: ...

    @property
    def counts(self) -> U32: ...


class Corpus(Protocol):
    """Texts made ready for one kernel."""

    @property
    def characters(self) -> int: ...

    def sketch(self, plan: Plan, seed: int, lanes: int, progress: Progress) -> Sketches: ...

    def verify(self, codes: U64, progress: Progress) -> tuple[U32, U32]:
        """For pairs coded as left << 32 | right and sorted: the sizes of intersection and union of
        their gram sets.
        """
        ...


class Kernel(Protocol):
    name: str

    def corpus(self, texts: Sequence[str | None], grams: Grams, threads: int) -> Corpus: ...

    def match(
        self,
        packed: U64,
        sketched: Bitmaps,
        threshold: float,
        limit: int,
        second: Flags | None,
        threads: int,
    ) -> tuple[U64, I64]:
        """Pairs of rows that share a key and that the bitmaps do not prove to be below the
        threshold.

        `packed` holds key << 32 | row, sorted; pairs are coded as left << 32 | right. `second`
        marks the rows of a second list: then only pairs across the two count. Buckets of more than
        `limit` rows are left alone and returned as (start, end) places in `packed`.
        """
        ...

    def sift(self, codes: U64, sketched: Bitmaps, threshold: float, threads: int) -> U64:
        """Of these pairs, those that the bitmaps do not prove to be below the threshold."""
        ...


def bitmap_lanes(characters: int, texts: int) -> int:
    """64-bit words of a bitmap: four bits for each gram of a middling text, so that most bits stay
    empty.
    """
    wanted = 4 * characters / max(texts, 1) / 64
    lanes = 4
    while lanes < min(wanted, 256):
        lanes *= 2
    return lanes


BASE = np.uint64(0x9E3779B97F4A7C15)
LENGTH = np.uint64(0xC2B2AE3D27D4EB4F)
ROUNDS = 16


def mix(x: U64) -> U64:
    """Spread every bit over all 64 (the finaliser of SplitMix64)."""
    x = x ^ (x >> np.uint64(30))
    x = x * np.uint64(0xBF58476D1CE4E5B9)
    x = x ^ (x >> np.uint64(27))
    x = x * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def salts(seed: int, bins: int) -> U64:
    """A mask and an odd multiplier for each round and for each bin, as a table of two columns."""
    if not 0 <= seed < 1 << 64:
        raise UsageError(
            f"The seed {seed} is out of range.", "Give a whole number from 0 to 2^64 - 1."
        )
    count = 2 * (ROUNDS + bins)
    steps = np.arange(1, count + 1, dtype=np.uint64) * BASE
    values = mix(mix(np.array([seed], dtype=np.uint64)) + steps).reshape(-1, 2)
    values[:, 1] |= np.uint64(1)
    return values


ENVIRONMENT = "CLAIMLAB_NEARDUP"


def load() -> Kernel:
    wish = os.environ.get(ENVIRONMENT, "")
    if wish not in ("", "numpy", "compiled"):
        raise UsageError(
            f"{ENVIRONMENT} is '{wish}'.", "Set it to 'numpy' or 'compiled', or unset it."
        )
    if wish != "numpy":
        try:
            from claimlab.text.neardup.compiled import CompiledKernel

            return CompiledKernel()
        except ImportError:
            if wish == "compiled":
                raise ClaimlabError(
                    f"{ENVIRONMENT} asks for the compiled near-duplicate kernel, which was not"
                    " built.",
                    "Install a C compiler, then install claimlab again.",
                ) from None
    from claimlab.text.neardup.fallback import NumpyKernel

    return NumpyKernel()
