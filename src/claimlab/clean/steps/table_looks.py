"""Steps that change nothing and write a table: the statistics of the texts at this stage, by a
counting rule with a name; and a random sample for manual inspection, which comes back filled in as
a table of decisions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from pydantic import Field

from claimlab.clean.counting import Counting
from claimlab.clean.statistics import (
    DOMAINS,
    DOMAINS_LISTED,
    TEXTS,
    domain_statistics,
    text_statistics,
)
from claimlab.clean.step import CleanStep, Outcome, labels
from claimlab.core.words import several


class DescribeStep(CleanStep):
    """A paper's table describes its data at one moment, which need not be the last: labels may
    change after it.
    """

    name = "describe"
    summary = "Counts words, sentences, URLs and domains per label at this stage; changes nothing."

    counting: Counting = "plain"
    top: int = Field(default=DOMAINS_LISTED, ge=1)

    def apply(self, records: pl.DataFrame) -> Outcome:
        tables = {
            TEXTS: text_statistics(records, counting=self.counting),
            DOMAINS: domain_statistics(records, top=self.top, counting=self.counting),
        }
        return replace(Outcome.of(records), tables=tables)


class InspectionSampleStep(CleanStep):
    name = "inspection-sample"
    summary = "Draws a random sample, in proportion to the labels, into the table 'inspection'."

    size: int = Field(default=50, ge=1)
    seed: int = 0

    def apply(self, records: pl.DataFrame) -> Outcome:
        rows = pl.DataFrame(
            {"record_id": records["id"], "label": labels(records), "text": records["text"]}
        )
        # Sorted by id, so that the draw does not depend on the order of the file.
        ordered = rows.drop_nulls("text").sort("record_id")
        rng = np.random.default_rng(self.seed)
        picked = []
        strata = ordered.with_row_index("row").group_by("label").agg("row").sort("label")["row"]
        shares = _shares(strata.list.len().to_list(), self.size)
        for members, n in zip(strata.to_list(), shares, strict=True):
            picked += rng.permutation(members)[:n].tolist()
        sample = ordered[sorted(picked)].with_columns(
            decision=pl.lit(None, pl.String), reason=pl.lit(None, pl.String)
        )
        note = f"{several(sample.height, 'record')} in the table 'inspection' for manual inspection"
        return replace(Outcome.of(records, notes=(note,)), tables={"inspection": sample})


ENTRIES = [DescribeStep, InspectionSampleStep]


def _shares(sizes: list[int], wanted: int) -> list[int]:
    """How many to draw from strata of these sizes: in proportion, by largest remainders, never more
    than there are.
    """
    total = sum(sizes)
    wanted = min(wanted, total)
    exact = [wanted * size / total for size in sizes] if total else []
    out = [int(share) for share in exact]
    by_remainder = sorted(range(len(sizes)), key=lambda i: (out[i] - exact[i], i))
    for i in by_remainder[: wanted - sum(out)]:
        out[i] += 1
    return out
