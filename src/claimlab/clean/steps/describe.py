"""Take the statistics of the texts at this stage, by a counting rule with a name: changes
nothing.
"""

from __future__ import annotations

from typing import ClassVar

import polars as pl
from pydantic import Field

from claimlab.clean.counting import Counting
from claimlab.clean.statistics import DOMAINS, TEXTS, TOP, domain_statistics, text_statistics
from claimlab.clean.step import CleanStep
from claimlab.core.step import Outcome


class Describe(CleanStep):
    """A paper's table describes its data at one moment, which need not be the last: labels may
    change after it.
    """

    name: ClassVar[str] = "describe"
    summary: ClassVar[str] = (
        "Counts words, sentences, URLs and domains per label at this stage; changes nothing."
    )

    counting: Counting = "plain"
    top: int = Field(default=TOP, ge=1)

    def apply(self, records: pl.DataFrame) -> Outcome:
        plain = Outcome.of(records)
        tables = {
            TEXTS: text_statistics(records, counting=self.counting),
            DOMAINS: domain_statistics(records, top=self.top, counting=self.counting),
        }
        return Outcome(plain.kept, plain.dropped, plain.doubtful, plain.changed, tables)


STEP = Describe
