"""The arithmetic that the compiled kernel and the NumPy code share: constants, the mixer, the salts
of the rounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import UsageError

U64 = NDArray[np.uint64]

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
