"""Defects of the generation itself: no text, a chain that stopped, JSON or instructions left in the
text.
"""

from __future__ import annotations

import re

from claimlab.generate.filter.metric import Metric, Reading, one_by_one
from claimlab.generate.filter.texts import Batch, Text


def read(text: Text, batch: Batch) -> Reading:
    if text.text is None or not text.text.strip():
        return Reading("failed", None, "there is no text")
    if text.problem:
        return Reading("failed", None, text.problem)
    for pattern in batch.table["structure"]["leftovers"]:
        if match := re.search(pattern, text.text, re.IGNORECASE):
            return Reading("failed", None, f"leftover of the generation: “{match.group()[:40]}”")
    return Reading("passed")


METRIC = Metric(
    "defects", "text, chain and form are whole", "nothing", one_by_one(read), stage="defects"
)
