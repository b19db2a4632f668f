"""What cleaning steps have in common: checked parameters, the labels they compare, and what may be
handed to them.

A step that needs more than the records names it in `needs`; the runner hands it in as a constructor
argument, and lists the stage as not run, with the reason, where it is not there. What is passed in
is not a parameter: the lineage has its hash, not its rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl
from pydantic import BaseModel, ConfigDict

from claimlab.core.step import Outcome
from claimlab.core.types import JsonObject

# A folder of the run for a step's own files; null where nothing is kept.
Place = Callable[[str], Path | None]


class CleanStep(BaseModel):
    """The base of the steps in `clean/steps/`: fields are the parameters that a recipe may set."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    name: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()

    def parameters(self) -> JsonObject:
        """What this step was set to, JSON-safe: goes into the lineage."""
        return self.model_dump(mode="json", exclude=set(self.needs))

    @abstractmethod
    def apply(self, records: pl.DataFrame) -> Outcome: ...


def reasons(rows: pl.DataFrame, why: pl.Expr) -> dict[str, str]:
    """Id -> reason, for records that leave; in one chunk, as Polars fails to format many."""
    return dict(rows.rechunk().select("id", reason=why).iter_rows())


def rewritten(
    records: pl.DataFrame,
    after: pl.Series,
    why: pl.Series | pl.Expr,
    empty: str,
    *,
    meta: pl.Series | None = None,
    notes: tuple[str, ...] = (),
) -> Outcome:
    """Texts (and `meta`) replaced, each change with its reason; a record of whose text nothing is
    left is dropped as `empty`.
    """
    rows = records.select("id", column=pl.lit("text"), before="text").with_columns(
        after.alias("after"), why.alias("reason")
    )
    touched = rows.filter(pl.col("before") != pl.col("after"))
    blank = pl.col("after").str.strip_chars() == ""
    return Outcome.of(
        records,
        kept=records.with_columns(text=after, meta=records["meta"] if meta is None else meta),
        dropped=dict.fromkeys(touched.filter(blank)["id"], empty),
        changed=touched.filter(~blank),
        notes=notes,
    )


@dataclass(frozen=True)
class Supplies:
    """Tables passed in beside the records; null where there is none.

    `decisions`: what people decided (id or row, decision, reason). `ratings`: fact-checks
    (record_id or claim, rating, publisher, url). `original`: id, group and row number of every
    record before the first step. `work` gives a step a folder of the run for files of its own.
    """

    decisions: pl.DataFrame | None = None
    ratings: pl.DataFrame | None = None
    original: pl.DataFrame | None = None
    work: Place | None = None


# How the stage table words a missing input.
MISSING = {
    "decisions": "no table of decisions was passed in (`decisions`)",
    "ratings": (
        "no fact-checks were passed in (`claimreviews`), and the evidence table has no ratings"
    ),
    "original": "the records before cleaning are not known",
}


def labels(records: pl.DataFrame) -> pl.Series:
    """The label by which two records can contradict each other: the verdict, or the raw label where
    there is none.

    "Unknown" says nothing of truth, so it contradicts nothing: null.
    """
    known = pl.when(pl.col("veracity") != "unknown").then("veracity")
    raw = pl.when(pl.col("veracity").is_null()).then("label_raw")
    return records.select(label=pl.coalesce(known, raw)).to_series()
