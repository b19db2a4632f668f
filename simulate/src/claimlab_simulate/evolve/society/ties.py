"""Ties drawn at random: how many a network has, and as many different pairs of agents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from claimlab.core.errors import UsageError
from claimlab_simulate.evolve.society.network import Ints, Longs, unique_sorted

MEAN_DEGREE = (
    6.0  # between the released random (4.8) and clustered (12.0) networks; what peers are timed at
)
_SPARE = 1.02  # drawn beyond what is wanted, so that one round is usually enough


def edges_wanted(size: int, mean_degree: float | None) -> int:
    """How many ties give that mean degree, never more than there are pairs."""
    wanted = MEAN_DEGREE if mean_degree is None else mean_degree
    return min(round(size * wanted / 2), size * (size - 1) // 2)


def distinct_keys(
    wanted: int, draw: Callable[[int], Longs], rng: np.random.Generator, possible: int
) -> Longs:
    """`wanted` different keys, sorted; `draw(n)` gives n keys, repeats among them, each possible
    key as likely.
    """
    if wanted > possible:
        raise UsageError(
            f"There are {possible:,} pairs for {wanted:,} ties.",
            "Ask for a smaller mean degree, or more agents.",
        )
    keys: Longs = np.empty(0, dtype=np.int64)
    while keys.size < wanted:
        share = max(1.0 - keys.size / possible, 1 / possible)  # of draws that are new
        more = draw(int((wanted - keys.size) / share * _SPARE) + 8)
        keys = unique_sorted(np.concatenate([keys, more]) if keys.size else more)
    if keys.size == wanted:
        return keys
    surplus = np.zeros(keys.size, dtype=np.bool_)
    surplus[rng.choice(keys.size, keys.size - wanted, replace=False, shuffle=False)] = True
    return keys[~surplus]


def ordered_pairs(size: int, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """`count` pairs of different rows, each unordered pair as likely, the smaller row first;
    repeats may occur.
    """
    first = rng.integers(0, size, count, dtype=np.int32)
    second = rng.integers(0, size - 1, count, dtype=np.int32)
    second += second >= first
    return np.minimum(first, second), np.maximum(first, second)
