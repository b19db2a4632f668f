"""Balanced accuracy: what accuracy would be if every class had as many records."""

from __future__ import annotations

import numpy as np

from claimlab.core.stats.scores import Counts, Floats, ratio
from claimlab.evaluate.metric import TableMetric


def balanced_accuracy(counts: Counts) -> Floats:
    """The mean recall over the classes that a table holds; NaN of nothing."""
    hits = np.diagonal(counts, axis1=-2, axis2=-1).astype(np.float64)
    recall = ratio(hits, counts.sum(axis=-1), nothing=0.0)
    present = (counts.sum(axis=-1) > 0).sum(axis=-1)
    return ratio(recall.sum(axis=-1), present, nothing=np.nan)


METRIC = TableMetric(
    name="balanced-accuracy",
    title="balanced accuracy",
    summary="The mean recall of the classes: always giving one class scores 1 / classes.",
    figure=balanced_accuracy,
    gaps="wrong",
)
