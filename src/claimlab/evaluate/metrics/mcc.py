"""Matthews' correlation coefficient: 0 for any constant answer, however common that class is."""

from __future__ import annotations

import numpy as np

from claimlab.core.stats.scores import Counts, Floats, filled, gaps, ratio
from claimlab.evaluate.metric import TableMetric

HALVINGS = 60  # of the span in which the level lies: beyond the digits of a float


def mcc(counts: Counts) -> Floats:
    """The correlation of truth and answers (Gorodkin 2004 for more than two classes); 0 where
    either is constant, and NaN of nothing. No wrong answers to the gaps give less: these are
    answered by the most frequent other class, and spread over the classes so that the correlation
    is the lowest."""
    table = np.asarray(counts, dtype=np.float64)
    records, true = table.sum(axis=(-2, -1)), table.sum(axis=-1)
    answers = filled(table)
    together = np.trace(answers, axis1=-2, axis2=-1) * records - (true * answers.sum(axis=-2)).sum(
        axis=-1
    )
    of_truth = records**2 - (true**2).sum(axis=-1)
    even, uneven = _spreads(table)
    of_answers = np.where(together > 0, records**2 - even, records**2 - uneven)
    correlation = ratio(together, np.sqrt(of_truth * of_answers), nothing=0.0)
    # without a spread, answers that agree less than a constant one are the worst there are
    correlation = np.where((together < 0) & (of_answers <= 0) & (of_truth > 0), -1.0, correlation)
    return np.where(records > 0, np.maximum(correlation, -1.0), np.nan)


def _spreads(counts: Floats) -> tuple[Floats, Floats]:
    """The least and the greatest sum of squared class sizes of the answers, over the ways to answer
    the gaps: with two classes there is one."""
    k = counts.shape[-2]
    sizes, of_class = counts[..., :k].sum(axis=-2), gaps(counts)
    missing = of_class.sum(axis=-1, keepdims=True)
    room = missing - of_class if k == 2 else np.broadcast_to(missing, of_class.shape)
    low, high = sizes.min(axis=-1, keepdims=True), sizes.max(axis=-1, keepdims=True) + missing
    for _ in range(HALVINGS if missing.any() else 0):
        level = (low + high) / 2
        full = (np.clip(level, sizes, sizes + room) - sizes).sum(axis=-1, keepdims=True) >= missing
        low, high = np.where(full, low, level), np.where(full, level, high)
    even = np.clip(high, sizes, sizes + room)
    largest = np.argsort(-sizes, axis=-1, kind="stable")
    ordered, space = (np.take_along_axis(each, largest, axis=-1) for each in (sizes, room))
    before = np.cumsum(space, axis=-1) - space
    uneven = ordered + np.clip(missing - before, 0, space)
    return np.asarray((even**2).sum(axis=-1)), np.asarray((uneven**2).sum(axis=-1))


METRIC = TableMetric(
    name="mcc",
    title="Matthews correlation (MCC)",
    summary="The correlation of truth and answers, from -1 to 1: 0 is what chance gives.",
    figure=mcc,
    lowest=-1.0,
    gaps="lowest",
)
