"""Where to draw the agents of a network: a spring layout in NumPy, seeded, for a few hundred of them at most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

ROUNDS = 120


def place(size: int, ties: Sequence[tuple[int, int]], *, seed: int = 0) -> npt.NDArray[np.float64]:
    """Positions in the unit square; tied agents draw together, all push each other apart."""
    if size == 0:
        return np.empty((0, 2))
    at = np.random.default_rng(seed).random((size, 2))
    ends = np.array(ties, dtype=np.int64).reshape(-1, 2)
    ideal = np.sqrt(1.0 / size)
    for heat in np.linspace(0.1, 0.002, ROUNDS):
        away = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.sqrt((away**2).sum(axis=2)), 1e-3)
        move = (away * (ideal**2 / distance**2)[:, :, None]).sum(axis=1)
        pull = at[ends[:, 0]] - at[ends[:, 1]]
        pull = pull * (np.sqrt((pull**2).sum(axis=1, keepdims=True)) / ideal)
        np.add.at(move, ends[:, 0], -pull)
        np.add.at(move, ends[:, 1], pull)
        move += 0.05 * (at.mean(axis=0) - at)  # parts that nothing ties to the rest must not fly off
        length = np.maximum(np.sqrt((move**2).sum(axis=1, keepdims=True)), 1e-9)
        at = at + move / length * np.minimum(length, heat)
    low, high = at.min(axis=0), at.max(axis=0)
    return np.asarray((at - low) / np.maximum(high - low, 1e-9))
