"""Which predictions of a run, and which one of them."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field

from claimlab.web.filters import BLANK, PageFilters, Part, RowChoice, Values
from claimlab.web.workspace import Word

Share = Annotated[float | None, Field(ge=0, le=1), BLANK]


class RunFilters(PageFilters):
    """Which predictions of a run."""

    sortable = ("id", "truth", "said", "confidence")
    part: Part = 0
    right: Literal["", "right", "wrong", "none"] = ""
    """none: no usable answer."""
    truth: Values = []
    said: Values = []
    least: Share = None
    most: Share = None
    subgroup: Word = ""
    """The column of the subgroups; the first one that differs, where it is left out."""
    value: Values = []


class PredictionChoice(RunFilters, RowChoice):
    """A prediction, and where it is in the list."""


def chosen(table: pl.DataFrame, filters: RunFilters) -> pl.DataFrame:
    """The predictions that pass the filters, in order."""
    right = pl.col("right")
    by_answer = {"right": right, "wrong": ~right, "none": pl.col("answer") == "none"}
    any_of = pl.col("subgroup").list.eval(pl.element().is_in(filters.value)).list.any()
    conditions = [
        (filters.right, by_answer.get(filters.right, right)),
        (filters.truth, pl.col("truth").is_in(filters.truth)),
        (filters.said, pl.col("answer").is_in(filters.said)),
        (filters.least is not None, pl.col("confidence") >= (filters.least or 0)),
        (filters.most is not None, pl.col("confidence") <= (filters.most or 0)),
        (filters.value, any_of),
    ]
    out = table.filter(
        *filters.searched(), *(condition for value, condition in conditions if value)
    )
    if not filters.sort:
        return out
    column = filters.sort.removeprefix("-").replace("said", "answer")
    down = [filters.sort.startswith("-"), False]
    return out.sort([column, "id"], descending=down, nulls_last=True)
