"""Macro-F1 from confusion counts, and intervals by resampling whole groups."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def confusion(truth: npt.NDArray[np.int64], guess: npt.NDArray[np.int64], classes: int) -> npt.NDArray[np.int64]:
    """Counts with truth in rows and guesses in columns."""
    return np.bincount(truth * classes + guess, minlength=classes * classes).reshape(classes, classes)


def macro_f1(counts: npt.NDArray[np.floating] | npt.NDArray[np.integer]) -> Floats:
    """Macro-F1 of confusion counts (..., K, K). A class that is neither true nor guessed is left out of the mean."""
    hits = np.diagonal(counts, axis1=-2, axis2=-1).astype(np.float64)
    size = counts.sum(axis=-1).astype(np.float64) + counts.sum(axis=-2)
    present = size > 0
    f1 = np.divide(2 * hits, size, out=np.zeros_like(hits), where=present)
    return np.asarray(f1.sum(axis=-1) / np.maximum(present.sum(axis=-1), 1), dtype=np.float64)


def majority_f1(counts: npt.NDArray[np.int64]) -> float:
    """Macro-F1 of always answering the most frequent class."""
    share = counts.max() / counts.sum()
    return float(2 * share / (1 + share) / (counts > 0).sum())


def stratified_f1(counts: npt.NDArray[np.int64]) -> float:
    """Expected macro-F1 of drawing answers from the label distribution: precision = recall = share, so 1/K."""
    return float(1 / (counts > 0).sum())


def clustered_interval(
    truth: npt.NDArray[np.int64],
    guesses: list[npt.NDArray[np.int64]],
    groups: npt.NDArray[np.int64],
    classes: int,
    *,
    seed: int,
    draws: int = 400,
    level: float = 0.95,
) -> tuple[float, float]:
    """Percentile interval of macro-F1 over resamples of whole groups; `guesses` holds one prediction per repeat.

    A resample gives each group a Poisson(1) weight. Groups with the same confusion counts are interchangeable, and the
    sum of m such weights is Poisson(m): so only distinct counts are drawn for, whatever the number of groups.
    """
    cells = classes * classes
    size = (int(groups.max()) + 1) * cells
    seen = sum(np.bincount(groups * cells + truth * classes + guess, minlength=size) for guess in guesses)
    counted, alike = np.unique(np.reshape(seen, (-1, cells)), axis=0, return_counts=True)
    kinds = counted / len(guesses)
    rng = np.random.default_rng(seed)
    weights = rng.poisson(alike, size=(draws, len(kinds)))
    scores = macro_f1((weights @ kinds).reshape(-1, classes, classes))
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
