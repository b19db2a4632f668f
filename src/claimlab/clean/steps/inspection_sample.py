"""A random sample for manual inspection: it removes nothing, and comes back filled in as a table of
decisions.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from claimlab.clean.step import CleanStep, labels
from claimlab.core.step import Outcome
from claimlab.core.words import several


class InspectionSample(CleanStep):
    name: ClassVar[str] = "inspection-sample"
    summary: ClassVar[str] = (
        "Draws a random sample, in proportion to the labels, into the table 'inspection'."
    )

    size: int = Field(default=50, ge=1)
    seed: int = 0

    def apply(self, records: pl.DataFrame) -> Outcome:
        rows = pl.DataFrame(
            {"record_id": records["id"], "label": labels(records), "text": records["text"]}
        )
        # Sorted by id, so that the draw does not depend on the order of the file.
        ordered = rows.drop_nulls("text").sort("record_id")
        rng = np.random.default_rng(self.seed)
        picked: list[int] = []
        strata = (
            ordered.with_row_index("row")
            .group_by("label", maintain_order=True)
            .agg("row")
            .sort("label")
        )
        for (members,), n in zip(
            strata.select("row").iter_rows(),
            _shares(strata["row"].list.len().to_list(), self.size),
            strict=True,
        ):
            picked += rng.permutation(members)[:n].tolist()
        sample = ordered[sorted(picked)].with_columns(
            pl.lit(None, pl.String).alias("decision"), pl.lit(None, pl.String).alias("reason")
        )
        plain = Outcome.of(records)
        note = f"{several(sample.height, 'record')} in the table 'inspection' for manual inspection"
        return Outcome(
            plain.kept,
            plain.dropped,
            plain.doubtful,
            plain.changed,
            {"inspection": sample},
            (note,),
        )


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


STEP = InspectionSample
