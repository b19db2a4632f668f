"""Draw pairs of agents at random, none twice: what the generators of networks are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import UsageError

Keys = NDArray[np.int64]
_SPARE = 1.02  # drawn beyond what is wanted, so that one round is usually enough


def distinct_keys(wanted: int, draw: Callable[[int], Keys], rng: np.random.Generator, possible: int) -> Keys:
    """`wanted` different keys, sorted; `draw(n)` gives n keys, repeats among them, each possible key as likely."""
    if wanted > possible:
        raise UsageError(
            f"There are {possible:,} pairs for {wanted:,} ties.", "Ask for a smaller mean degree, or more agents."
        )
    held: Keys = np.empty(0, dtype=np.int64)
    while held.size < wanted:
        share = max(1.0 - held.size / possible, 1 / possible)  # of draws that are new
        more = draw(int((wanted - held.size) / share * _SPARE) + 8)
        held = unique_sorted(np.concatenate([held, more]) if held.size else more)
    if held.size == wanted:
        return held
    surplus = np.zeros(held.size, dtype=np.bool_)
    surplus[rng.choice(held.size, held.size - wanted, replace=False, shuffle=False)] = True
    return held[~surplus]


def unique_sorted(keys: Keys) -> Keys:
    keys.sort()
    keep = np.empty(keys.size, dtype=np.bool_)
    keep[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return keys if keep.all() else keys[keep]


def ordered_pairs(size: int, count: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """`count` pairs of different rows, each unordered pair as likely, the smaller row first; repeats may occur."""
    first = rng.integers(0, size, count, dtype=np.int32)
    second = rng.integers(0, size - 1, count, dtype=np.int32)
    second += second >= first
    return np.minimum(first, second), np.maximum(first, second)
