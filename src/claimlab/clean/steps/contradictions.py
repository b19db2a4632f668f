"""Near-duplicates that carry different labels: at least one of them is wrong, and a person must say which."""

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
        ids, label = records["id"].to_list(), labels(records).to_list()
        doubtful = {
            ids[row]: f"{label[row]}, but the near-duplicate {ids[other]} is {label[other]}"
            for row, other in self.contradicted(records).items()
        }
        return Outcome.of(records, doubtful=doubtful)


STEP = Contradictions
