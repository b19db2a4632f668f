"""Matthews' correlation coefficient: 0 for any constant answer, however common that class is."""

from __future__ import annotations

import numpy as np

from claimlab.core.stats.scores import Counts, Floats, ratio
from claimlab.evaluate.metric import TableMetric


def mcc(counts: Counts) -> Floats:
    """The correlation of truth and answers (Gorodkin 2004 for more than two classes); 0 where
    either is constant, and NaN of nothing. Answers that are none of the classes are a class of
    their own, and so is no answer."""
    table = np.asarray(counts, dtype=np.float64)
    records = table.sum(axis=(-2, -1))
    true, answered = table.sum(axis=-1), table.sum(axis=-2)
    hits = np.trace(table, axis1=-2, axis2=-1)
    by_chance = (true * answered[..., : true.shape[-1]]).sum(axis=-1)
    together = hits * records - by_chance
    of_truth = records**2 - (true**2).sum(axis=-1)
    of_answers = records**2 - (answered**2).sum(axis=-1)
    correlation = ratio(together, np.sqrt(of_truth * of_answers), nothing=0.0)
    return np.where(records > 0, correlation, np.nan)


METRIC = TableMetric(
    name="mcc",
    title="Matthews correlation (MCC)",
    summary="The correlation of truth and answers, from -1 to 1: 0 is what chance gives.",
    figure=mcc,
    lowest=-1.0,
)
