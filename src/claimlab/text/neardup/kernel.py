"""What the compiled kernel and the NumPy code share: what texts are cut into, what is kept of them,
pairs as codes, constants, the mixer, and the salts of the rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import UsageError

Unit = Literal["char", "word"]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Two 32-bit numbers in one of 64 bits: a key and a row, or the left and the right row of a pair.
SHIFT = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
BASE = np.uint64(0x9E3779B97F4A7C15)
LENGTH = np.uint64(0xC2B2AE3D27D4EB4F)
ROUNDS = 16


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
class Bitmaps:
    """What rules out dissimilar texts: `bits[row]` is a bitmap of the grams, `counts[row]` their
    number, repeats included (0: an empty text). In memory, or mapped from a file.
    """

    bits: U64
    counts: U32


@dataclass(frozen=True)
class Sketches(Bitmaps):
    """All that is kept of the texts while candidates are looked for: `keys[band, row]` agree where
    a band agrees; `hashes[row]` tell identical texts.
    """

    keys: U32
    hashes: U64

    @classmethod
    def of(cls, texts: int, bands: int, lanes: int) -> Sketches:
        """Empty, for so many texts."""
        return cls(
            bits=np.zeros((texts, lanes), np.uint64),
            counts=np.zeros(texts, np.uint32),
            keys=np.zeros((bands, texts), np.uint32),
            hashes=np.zeros((texts, 2), np.uint64),
        )


def ends(codes: U64) -> tuple[I64, I64]:
    """The left and the right rows of pairs."""
    return (codes >> SHIFT).astype(np.int64), (codes & LOW).astype(np.int64)


def distinct(codes: U64) -> U64:
    """Sorted, each once. NumPy's own unique hashes first, which is many times slower on 64-bit
    numbers.
    """
    codes = np.sort(codes)
    fresh = np.ones(len(codes), bool)
    fresh[1:] = codes[1:] != codes[:-1]
    return codes[fresh]


def bitmap_lanes(characters: int, texts: int) -> int:
    """64-bit words of a bitmap: four bits for each gram of a middling text, so that most bits stay
    empty.
    """
    wanted = 4 * characters / max(texts, 1) / 64
    lanes = 4
    while lanes < min(wanted, 256):
        lanes *= 2
    return lanes


def mix(x: U64) -> U64:
    """Spread every bit over all 64 (the finaliser of SplitMix64)."""
    return stirred(stirred(stirred(x, 30, 0xBF58476D1CE4E5B9), 27, 0x94D049BB133111EB), 31)


def stirred(x: U64, bits: int, factor: int = 1) -> U64:
    return (x ^ (x >> np.uint64(bits))) * np.uint64(factor)


def salts(seed: int, bins: int) -> U64:
    """A mask and an odd multiplier for each round and for each bin, as a table of two columns."""
    if not 0 <= seed < 1 << 64:
        raise UsageError(
            f"The seed {seed} is out of range.", "Give a whole number from 0 to 2^64 - 1."
        )
    count = 2 * (ROUNDS + bins)
    steps = np.arange(1, count + 1, dtype=np.uint64) * BASE
    values = mix(mix(np.array([seed], np.uint64)) + steps).reshape(-1, 2)
    values[:, 1] |= 1
    return values
