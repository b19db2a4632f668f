"""Near-duplicates that carry different labels: at least one of them is wrong, and a person must say
which.
"""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from claimlab.clean.near import NearStep
from claimlab.clean.step import labels
from claimlab.core.step import Outcome


class Contradictions(NearStep):
    name: ClassVar[str] = "contradictions"
    summary: ClassVar[str] = "Sends near-duplicates under different labels to the doubtful ones."

    def apply(self, records: pl.DataFrame) -> Outcome:
        pairs = self.contradicted(records)
        named = records.select("id", label=labels(records))
        both = zip(
            named[list(pairs)].iter_rows(), named[list(pairs.values())].iter_rows(), strict=True
        )
        doubtful = {
            i: f"{label}, but the near-duplicate {other} is {its}"
            for (i, label), (other, its) in both
        }
        return Outcome.of(records, doubtful=doubtful)


STEP = Contradictions
