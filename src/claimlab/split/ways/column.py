"""Whole values of any column, or key of `meta`, held out: a topic, an author, a model."""

from __future__ import annotations

import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.errors import UsageError
from claimlab.split.hold_out import HoldOut, Trait
from claimlab.split.material import Material
from claimlab.split.way import Request


class Column(HoldOut):
    name = "column"
    summary = "Whole values of any column held out; name it with --column (topic, author, meta.KEY)."
    takes = HoldOut.takes | {"column"}

    def trait(self, material: Material, request: Request) -> Trait:
        if request.column is None:
            raise UsageError("Hold out the values of which column?", "Name one with --column, such as topic.")
        values = column_values(material.records, request.column).cast(pl.String)
        return Trait(values, f"the row has no '{request.column}'")


WAY = Column()
