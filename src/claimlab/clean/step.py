"""The contract of a cleaning step: records in; kept, dropped with a reason, or doubtful out. What
steps have in common: checked parameters, the labels they compare, and what may be passed to them.

A step that needs more than the records names it in `needs`; the runner passes it as a constructor
argument, and lists the stage as not run, with the reason, where it is not there. What is passed in
is not a parameter: the lineage has its hash, not its rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl
from pydantic import BaseModel, ConfigDict

from claimlab.core.errors import ClaimlabError
from claimlab.core.record import slim
from claimlab.core.types import JsonObject

Change = tuple[str, str, str | None, str | None, str]  # id, column, before, after, reason
CHANGED = dict.fromkeys(("id", "column", "before", "after", "reason"), pl.String)
# A folder of the run for a step's own files; null where nothing is kept.
Place = Callable[[str], Path | None]
# How the stage table words a missing input.
MISSING = {
    "decisions": "no table of decisions was passed in (`decisions`)",
    "ratings": (
        "no fact-checks were passed in (`claimreviews`), and the evidence table has no ratings"
    ),
    "original": "the records before cleaning are not known",
}


@dataclass(frozen=True)
class Outcome:
    """What a step did with the records it was given.

    `kept` has the record columns (values may have changed). `dropped` and `doubtful` have a column
    `id` and a column `reason`; ids in them are absent from `kept`. `changed` (id, column, before,
    after, reason) logs edits.
    """

    kept: pl.DataFrame
    dropped: pl.DataFrame
    doubtful: pl.DataFrame
    changed: pl.DataFrame
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        before: pl.DataFrame,
        *,
        dropped: Mapping[str, str] | None = None,
        doubtful: Mapping[str, str] | None = None,
        kept: pl.DataFrame | None = None,
        changed: list[Change] | pl.DataFrame | None = None,
        notes: tuple[str, ...] = (),
    ) -> Outcome:
        """Build an outcome from id -> reason mappings; `kept` defaults to the rest of `before`, in
        order.
        """
        gone = {**(dropped or {}), **(doubtful or {})}
        rest = before if kept is None else kept
        return cls(
            kept=slim(rest.filter(~pl.col("id").is_in(list(gone)))) if gone else rest,
            dropped=_by_id(dropped or {}),
            doubtful=_by_id(doubtful or {}),
            changed=changed
            if isinstance(changed, pl.DataFrame)
            else pl.DataFrame(changed or [], schema=CHANGED, orient="row"),
            notes=notes,
        )

    def account(self, before: pl.DataFrame, step: str) -> None:
        """Raise if a record went in and came out nowhere, or twice: nothing is ever lost."""
        out = pl.concat([self.kept["id"], self.dropped["id"], self.doubtful["id"]])
        if not out.equals(before["id"]) and not out.sort().equals(before["id"].sort()):
            raise ClaimlabError(
                f"The step '{step}' lost or repeated records ({before.height} in, {out.len()}"
                " out).",
                "This is a fault in the step: report it, and leave the step out of the recipe until"
                " it is fixed.",
            )


def _by_id(reasons: Mapping[str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": list(reasons), "reason": list(reasons.values())},
        schema={"id": pl.String, "reason": pl.String},
    )


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
    def apply(self, records: pl.DataFrame) -> Outcome:
        """Decide about every record.

        Parameters
        ----------
        records : pl.DataFrame
            The records as the step before left them.

        Returns
        -------
        Outcome
            Each record once: kept, dropped with a reason, or doubtful with a reason.
        """


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


def labels(records: pl.DataFrame) -> pl.Series:
    """The label by which two records can contradict each other: the verdict, or the raw label where
    there is none.

    "Unknown" says nothing of truth, so it contradicts nothing: null.
    """
    verdict = pl.when(pl.col("veracity") != "unknown").then("veracity")
    raw = pl.when(pl.col("veracity").is_null()).then("label_raw")
    return records.select(label=pl.coalesce(verdict, raw)).to_series()
