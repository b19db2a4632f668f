"""The two metrics that every table shows, from the confusion table."""

from __future__ import annotations

from claimlab.core.stats.scores import accuracy, macro_f1
from claimlab.evaluate.metric import TableMetric

ENTRIES = [
    TableMetric(
        name="macro-f1",
        title="macro-F1",
        short="macro-F1",
        place=10,
        summary="The mean F1 of the classes: each counts the same, however rare it is.",
        figure=macro_f1,
        gaps="every-other",
    ),
    TableMetric(
        name="accuracy",
        title="accuracy",
        short="accuracy",
        place=20,
        summary="The share of records with the right answer.",
        figure=accuracy,
        gaps="wrong",
        needs_classes=False,
    ),
]
