"""Information, never a gate: what a detector of authorship labels, where its predictions came with
the dataset.
"""

from __future__ import annotations

from claimlab.core.record import AUTHORSHIPS
from claimlab.generate.filter.metric import Metric, Reading, unmeasured
from claimlab.generate.filter.texts import Batch


def measure(batch: Batch) -> list[Reading]:
    if batch.predictions is None:
        return [unmeasured("no predictions in the dataset")] * len(batch.texts)
    rows = batch.predictions.select("record_id", "label").iter_rows()
    labels = {record: label for record, label in rows if label in AUTHORSHIPS}
    return [
        (
            Reading("information", None, f"a detector says {labels[text.id]}")
            if text.id in labels
            else unmeasured("no prediction of its author")
        )
        for text in batch.texts
    ]


METRIC = Metric(
    "information",
    "what a detector says of its author",
    "predictions of authorship",
    measure,
    gate=False,
)
