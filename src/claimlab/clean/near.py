"""Near-duplicates among records, as the steps of this room need them: settings, clusters, and who contradicts whom."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

import polars as pl
from pydantic import Field

from claimlab.clean.step import CleanStep
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

    def neighbours(self, records: pl.DataFrame) -> dict[int, set[int]]:
        """The rows next to each row, itself excepted.

        The finder pairs the copies of one text with its first copy only; here they are neighbours of each other and of
        all that is near the text.
        """
        pairs = self.clusters(records).pairs
        copies: dict[int, set[int]] = defaultdict(set)  # first copy -> all copies, itself included
        first: dict[int, int] = {}
        for left, right, jaccard in pairs:
            if jaccard == 1:
                root = first.get(left, left)
                first[right] = root
                copies[root] |= {root, right}
        out: dict[int, set[int]] = defaultdict(set)
        for left, right, _ in pairs:
            one, two = first.get(left, left), first.get(right, right)
            for a in copies.get(one, {one}):
                for b in copies.get(two, {two}):
                    if a != b:
                        out[a].add(b)
                        out[b].add(a)
        return out
