"""Two runs side by side: where both are right, both wrong, or only one is."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import polars as pl
from fastapi import Query
from pydantic import BaseModel, Field

from claimlab.pages.excerpt import excerpt
from claimlab.web.filters import Filters, Part, Turning, turning
from claimlab.web.page import Pages
from claimlab.web.predictions import prediction_link, run_of, runs_in, scored
from claimlab.web.workspace import Workspace

Side = Literal[
    "", "both right", "only the first", "only the second", "both wrong", "different answers"
]
SIDES: tuple[Side, ...] = get_args(Side)


class CompareFilters(Filters):
    one: Annotated[str, Field(max_length=500, description="A run.")]
    other: Annotated[str, Field(max_length=500, description="Another run.")]
    one_part: Part = 0
    other_part: Part = 0
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
    parts = filters.one_part, filters.other_part
    first, second = (
        scored(place, "language", part).table for place, part in zip(places, parts, strict=True)
    )
    names = [
        place.entry.name if len(runs_in(place)) == 1 else run_of(place, part).name
        for place, part in zip(places, parts, strict=True)
    ]
    both = first.select("id", "text", "truth", one="said", one_right="right").join(
        second.select("id", other="said", other_right="right"),
        on="id",
        how="inner",
        maintain_order="left",
    )
    a, b = pl.col("one_right"), pl.col("other_right")
    sides: dict[Side, pl.Expr] = {
        "both right": a & b,
        "only the first": a & ~b,
        "only the second": ~a & b,
        "both wrong": ~a & ~b,
        "different answers": pl.col("one").fill_null("") != pl.col("other").fill_null(""),
    }
    text = pl.col("text").fill_null("").str.to_lowercase()
    words = [text.str.contains(word.lower(), literal=True) for word in filters.q.split()]
    shown = both.filter(*words, *([sides[filters.side]] if filters.side else []))
    where = turning(filters, "/compare", shown.height)
    start = (where.number - 1) * filters.size
    return ComparePage(
        one=names[0],
        other=names[1],
        shared=both.height,
        only_in_one=first.height - both.height,
        only_in_other=second.height - both.height,
        counts={name: both.filter(part).height for name, part in sides.items()},
        links={name: filters.link("/compare", side=name) for name in SIDES},
        filters=filters,
        filter_pairs=filters.pairs(),
        turning=where,
        pairs=[
            Pair(
                link=prediction_link(f"/runs/{filters.one}", r["id"], parts[0]),
                other_link=prediction_link(f"/runs/{filters.other}", r["id"], parts[1]),
                **{**r, "text": excerpt(r["text"] or "", 300)},
            )
            for r in shown.slice(start, filters.size).iter_rows(named=True)
        ],
    )
