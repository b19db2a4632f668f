"""Two runs side by side: where both are right, both wrong, or only one is."""

from __future__ import annotations

from typing import Annotated, Literal, get_args
from urllib.parse import urlencode

import polars as pl
from fastapi import Query
from pydantic import BaseModel, Field

from claimlab.pages.excerpt import excerpt
from claimlab.web.filters import Filters, Turning, turning
from claimlab.web.page import Pages
from claimlab.web.predictions import scored
from claimlab.web.workspace import Workspace

Side = Literal["", "both right", "only the first", "only the second", "both wrong", "different answers"]
SIDES: tuple[Side, ...] = get_args(Side)


class CompareFilters(Filters):
    one: Annotated[str, Field(max_length=500, description="A run.")]
    other: Annotated[str, Field(max_length=500, description="Another run.")]
    side: Side = ""


class Pair(BaseModel):
    id: str
    text: str
    truth: str
    one: str | None
    other: str | None
    one_right: bool
    other_right: bool
    link: str
    other_link: str


class ComparePage(BaseModel):
    one: str
    other: str
    shared: int
    only_in_one: int
    only_in_other: int
    counts: dict[str, int]
    links: dict[str, str]
    filters: CompareFilters
    filter_pairs: list[tuple[str, str]]
    turning: Turning
    pairs: list[Pair]


def add_comparison(pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add("/compare", "compare.html.jinja", title="Two runs side by side")
    def compare(filters: Annotated[CompareFilters, Query()]) -> ComparePage:
        return compare_page(workspace, filters)


def compare_page(workspace: Workspace, filters: CompareFilters) -> ComparePage:
    places = workspace.get(filters.one, "run"), workspace.get(filters.other, "run")
    first, second = (scored(place, "language").table for place in places)
    both = first.select("id", "text", "truth", one="said", one_right="right").join(
        second.select("id", other="said", other_right="right"), on="id", how="inner", maintain_order="left"
    )
    a, b = pl.col("one_right"), pl.col("other_right")
    parts: dict[Side, pl.Expr] = {
        "both right": a & b, "only the first": a & ~b, "only the second": ~a & b, "both wrong": ~a & ~b,
        "different answers": pl.col("one").fill_null("") != pl.col("other").fill_null(""),
    }  # fmt: skip
    text = pl.col("text").fill_null("").str.to_lowercase()
    words = [text.str.contains(word.lower(), literal=True) for word in filters.q.split()]
    shown = both.filter(*words, *([parts[filters.side]] if filters.side else []))
    where = turning(filters, "/compare", shown.height)
    start = (where.number - 1) * filters.size
    return ComparePage(
        one=places[0].entry.name, other=places[1].entry.name, shared=both.height,
        only_in_one=first.height - both.height, only_in_other=second.height - both.height,
        counts={name: both.filter(part).height for name, part in parts.items()},
        links={name: filters.link("/compare", side=name) for name in SIDES}, filters=filters,
        filter_pairs=filters.pairs(), turning=where,
        pairs=[
            Pair(
                link=f"/runs/{filters.one}/prediction?{urlencode({'id': r['id']})}",
                other_link=f"/runs/{filters.other}/prediction?{urlencode({'id': r['id']})}",
                **{**r, "text": excerpt(r["text"] or "", 300)},
            )
            for r in shown.slice(start, filters.size).iter_rows(named=True)
        ],
    )  # fmt: skip
