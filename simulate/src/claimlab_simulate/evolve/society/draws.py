"""Random numbers without a state: what is drawn is a function of a claim's seed and of what it is
drawn for.

    numbers(seeds, depth)                   one number for every seed
    numbers(seeds, depth, agents)           one for every seed and agent

So whole fronts of many claims are drawn at once, and a claim among a million draws what it draws
alone. The mixing is the finaliser of SplitMix64, over one name after the other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from claimlab_simulate.evolve.society.network import Floats, Longs

Numbers = npt.NDArray[np.uint64]
Whole = npt.NDArray[np.integer]
# names of draws that are not made for a step: no depth and no agent is so large
START, HUB, SILENT = 1 << 40, 1 << 41, 1 << 42
_STRIDE = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
HALF_BITS = np.uint64(32)


def numbers(seeds: Numbers, *names: int | Whole) -> Numbers:
    """64 random bits for each seed and the names it is drawn for; a name is one number, or one for
    each seed.
    """
    for name in names:
        seeds = seeds + (np.atleast_1d(name).astype(np.uint64) + np.uint64(1)) * _STRIDE
        shifted = seeds >> np.uint64(30)
        seeds ^= shifted
        seeds *= _FIRST
        seeds ^= np.right_shift(seeds, np.uint64(27), out=shifted)
        seeds *= _SECOND
        seeds ^= np.right_shift(seeds, np.uint64(31), out=shifted)
    return seeds


def below(drawn: Numbers, sizes: Whole | int) -> Longs:
    """Whole numbers from 0 to below `sizes`, all alike (to one part in 2**32 divided by the
    size).
    """
    sizes = np.asarray(sizes).astype(np.uint64)
    return ((drawn >> HALF_BITS) * sizes >> HALF_BITS).astype(np.int64)


def shares(drawn: Numbers) -> Floats:
    """Numbers from 0 to below 1."""
    return (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53
