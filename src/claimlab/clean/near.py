"""Near-duplicates among records, as the steps of this room need them: settings, clusters, and who contradicts whom."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

import polars as pl
from pydantic import Field

from claimlab.clean.step import CleanStep, labels
from claimlab.text.neardup import Clusters, akin_clusters, find_clusters


class NearStep(CleanStep):
    """The base of steps that look for near-duplicates. `finder = "akin"` is for reaching published figures again."""

    threshold: float = Field(default=0.7, gt=0, le=1)
    ngram: int = Field(default=5, ge=1)
    unit: Literal["char", "word"] = "char"
    recall: float = Field(default=0.99, gt=0, lt=1)
    finder: Literal["jaccard", "akin"] = "jaccard"

    def clusters(self, records: pl.DataFrame) -> Clusters:
        if self.finder == "akin":
            return akin_clusters(records["text"], threshold=self.threshold)
        return find_clusters(
            records["text"], threshold=self.threshold, ngram=self.ngram, unit=self.unit, recall=self.recall
        )

    def contradicted(self, records: pl.DataFrame) -> dict[int, int]:
        """Row -> the first row near it that carries another label.

        The finder pairs the copies of one text with its first copy only, so labels are gathered for each distinct
        text: ten thousand copies cost ten thousand steps, not their square.
        """
        label = labels(records).to_list()
        pairs = list(self.clusters(records).pairs)
        first = {right: left for left, right, jaccard in pairs if jaccard == 1}  # pairs come sorted by left
        near: dict[int, set[int]] = defaultdict(set)
        for left, right, _ in pairs:
            one, two = first.get(left, left), first.get(right, right)
            near[one] |= {one, two}
            near[two] |= {one, two}
        rows = sorted({row for left, right, _ in pairs for row in (left, right)})
        holders: dict[int, dict[str, int]] = defaultdict(dict)  # distinct text -> label -> its first row
        for row in rows:
            if label[row] is not None:
                holders[first.get(row, row)].setdefault(label[row], row)
        out = {}
        for row in rows:
            against = [
                other
                for text in near[first.get(row, row)]
                for name, other in holders[text].items()
                if label[row] is not None and name != label[row]
            ]
            if against:
                out[row] = min(against)
        return out
