"""How much of a detector's answers a shortcut explains, under a stated model.

With probability a the detector repeats the answer of the shortcut, with probability b it knows the
label, and otherwise it guesses among the K classes. Then the chance of an answer is linear in a and
b, also with several shortcuts, and the likelihood has one maximum. With two classes and one
shortcut it is a = the accuracy where the shortcut is right less that where it is wrong, and b = 2 ×
the accuracy where it is wrong - 1 + a. A share may come out slightly below zero: it is estimated,
not forced. This attributes answers under a model; it does not say what caused them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claimlab.core.stats.interval import (
    DRAWS,
    LEAST_UNITS,
    Interval,
    interval,
    kinds,
    redraw,
)
from claimlab.core.stats.scores import Floats, Ints

MOST_STEPS = 60
LEAST_CHANCE = 1e-6  # chance of any answer
TRACE_RECORDS = 0.01  # records


@dataclass(frozen=True)
class Attribution:
    """The share of answers that repeat each shortcut, and the share that knows the label (`own`),
    each with its 95% interval; `n` records in `groups`."""

    shortcuts: list[tuple[float, Interval | None]]
    own: tuple[float, Interval | None]
    n: int
    groups: int


def attribute(
    truth: Ints,
    answers: Ints,
    shortcuts: Sequence[Ints],
    groups: Ints,
    classes: int,
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> Attribution | None:
    """The shares of `answers`; null with fewer than 6 effective groups, and where shortcuts are
    always right or always give the same answers as each other, so that nothing tells the parts
    apart."""
    columns = [*shortcuts, truth]
    same = np.stack([answers == column for column in columns], axis=1)
    place = 2 ** np.arange(len(columns))
    cell, cells = same @ place, 2 ** len(columns)
    bits = (np.arange(cells)[:, None] // place % 2).astype(np.float64)
    design = np.asarray(bits - 1 / classes)
    distinct = kinds(groups, cell, cells)
    if distinct.effective < LEAST_UNITS or _alike(columns):
        return None
    counts = np.bincount(cell, minlength=cells).astype(np.float64)
    point = _largest(counts[None], design, classes)[0]
    rng = np.random.default_rng(seed)

    def shares_of(resampled: Floats) -> Floats:
        # cells that are almost empty stay uncertain: as much as Jeffreys' prior says, two records
        prior = rng.gamma(2 / cells, size=resampled.shape)
        return _largest(resampled + prior, design, classes)

    drawn = redraw(distinct, shares_of, seed=seed, draws=draws)
    shares = [
        (float(value), interval(drawn[:, i], distinct.effective, point=float(value)))
        for i, value in enumerate(point)
    ]
    return Attribution(shares[:-1], shares[-1], len(truth), distinct.groups)


def _alike(columns: Sequence[Ints]) -> bool:
    """Whether two of the parts always agree: then no answer tells one from the other."""
    return any(
        np.array_equal(column, other)
        for i, column in enumerate(columns)
        for other in columns[i + 1 :]
    )


def _largest(counts: Floats, design: Floats, classes: int) -> Floats:
    """The shares (draws, parts) of the largest likelihood: Newton's method, each step halved until
    every answer keeps a chance. A trace of each keeps shares finite where some never occur."""
    counts = counts + TRACE_RECORDS
    shares = np.zeros((len(counts), design.shape[1]))
    ridge = 1e-9 * counts.sum(axis=1)[:, None, None] * np.eye(design.shape[1])
    for _ in range(MOST_STEPS):
        chance = 1 / classes + shares @ design.T
        slope = (counts / chance) @ design
        curve = np.einsum("dp,pi,pj->dij", counts / chance**2, design, design) + ridge
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        size = np.ones((len(counts), 1))
        for _ in range(30):
            after = 1 / classes + (shares + size * step) @ design.T
            bad = (after < LEAST_CHANCE).any(axis=1, keepdims=True)
            if not bad.any():
                break
            size = np.where(bad, size / 2, size)
        shares = shares + size * step
        if float(np.abs(step).max()) < 1e-9:
            break
    return shares
