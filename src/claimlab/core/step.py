"""The contract of a step (clean, enrich, generate): records in; kept, dropped with a reason, or
doubtful out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import polars as pl

from claimlab.core.errors import ClaimlabError
from claimlab.core.record import slim
from claimlab.core.types import JsonObject

Change = tuple[str, str, str | None, str | None, str]  # id, column, before, after, reason


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
            dropped=reasons(dropped or {}),
            doubtful=reasons(doubtful or {}),
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


CHANGED = dict.fromkeys(("id", "column", "before", "after", "reason"), pl.String)


def reasons(table: Mapping[str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": list(table), "reason": list(table.values())},
        schema={"id": pl.String, "reason": pl.String},
    )


class Step(Protocol):
    """One file in `clean/steps/`, `enrich/steps/` or `generate/steps/`; parameters are constructor
    arguments.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def parameters(self) -> JsonObject:
        """What this step was set to, JSON-safe: goes into the lineage."""
        ...

    def apply(self, records: pl.DataFrame) -> Outcome: ...
