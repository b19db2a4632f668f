"""Two runs side by side: where both are right, both wrong, or only one is."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, get_args

import polars as pl
from fastapi import Query

from claimlab.evaluate.board import Board, rank_runs
from claimlab.evaluate.compare import Comparison, compare, corrected
from claimlab.evaluate.units import in_one_unit
from claimlab.pages.blocks import excerpt, probability
from claimlab.web.filters import PageFilters, Part, Turning, turning
from claimlab.web.page import Here, page
from claimlab.web.predictions import (
    board_of,
    name_of,
    prediction_link,
    run_of,
    scored,
    title_of,
    two_best,
)
from claimlab.web.workspace import Line, Shape, Workspace, WorkspaceFolder

Side = Literal[
    "", "both right", "only the first", "only the second", "both wrong", "different answers"
]
SIDES: tuple[Side, ...] = get_args(Side)


class RivalRun(Shape):
    """A run on the same records."""

    name: str
    score: float
    interval: tuple[float, float] | None
    ranks: str
    tied: bool
    link: str | None
    """Both runs side by side; null for the run itself."""


def compare_link(
    place: WorkspaceFolder, other: WorkspaceFolder, part: int, other_part: int = 0
) -> str:
    runs = CompareFilters(
        one=place.entry.id, other=other.entry.id, one_part=part, other_part=other_part
    )
    return runs.link("/compare")


def rivals_of(places: list[WorkspaceFolder], board: Board | None) -> list[RivalRun]:
    if board is None:
        return []
    links = {title_of(other): compare_link(places[0], other, 0) for other in places[1:]}
    return [
        RivalRun(
            **vars(standing) | {"ranks": board.ranks[standing.name]}, link=links.get(standing.name)
        )
        for standing in board.standings
    ]


class CompareFilters(PageFilters):
    one: Line
    """A run."""
    other: Line = ""
    """Another run; where it is left out, the two best on the records of the first."""
    one_part: Part = 0
    other_part: Part = 0
    side: Side = ""

    def runs(self, workspace: Workspace) -> list[tuple[WorkspaceFolder, int]]:
        sides = (self.one, self.one_part), (self.other, self.other_part)
        return [(workspace.get(id, "run"), part) for id, part in sides]


class AnswerPair(Shape):
    id: str
    text: str
    truth: str
    one: str | None
    other: str | None
    one_right: bool
    other_right: bool
    link: str
    other_link: str


class ComparePage(Shape):
    one: str
    other: str
    shared: int
    only_in_one: int
    only_in_other: int
    counts: dict[str, int]
    links: dict[str, str]
    filters: CompareFilters
    turning: Turning
    pairs: list[AnswerPair]
    figures_link: str


class CompareFigures(Shape):
    """Whether the difference of two runs is more than chance."""

    headline: str
    rivals: list[RivalRun]
    chance: str = ""
    """The difference with its interval and test, in a sentence."""


@page("/compare/figures", "compare-figures.html.jinja")
def compare_figures(filters: Annotated[CompareFilters, Query()], workspace: Here) -> CompareFigures:
    """The scores of two runs on the records that both answered."""
    places, parts = zip(*filters.runs(workspace), strict=True)
    board = board_of(places, parts)
    if board is None:
        return CompareFigures(headline="Nothing to compare: not both answered.", rivals=[])
    first, second = (run_of(place, part) for place, part in zip(places, parts, strict=True))
    runs = in_one_unit([first, second])
    (compared,) = corrected([compare(*runs, seed=0)])
    _, ranks = rank_runs(runs, seed=0)
    compared = replace(compared, p_ranks=ranks.get((first.name, second.name)))
    return CompareFigures(
        headline=board.headline(),
        rivals=rivals_of(list(places), board),
        chance=_chance(compared),
    )


def _chance(compared: Comparison) -> str:
    if compared.difference is None or compared.interval is None:
        return compared.why or ""
    low, high = (f"{100 * end:+.1f}" for end in compared.interval)
    verdict = "It may be chance." if compared.better is None else "It is more than chance."
    return (
        f"The difference is {100 * compared.difference:+.1f} points (95% interval {low} to {high};"
        f" p {probability(compared.sure).text}). {verdict}"
    )


@page("/compare", "compare.html.jinja")
def compare_page(filters: Annotated[CompareFilters, Query()], workspace: Here) -> ComparePage:
    """Two runs side by side."""
    if not filters.other:
        best, second_best = two_best(workspace, workspace.get(filters.one, "run"))
        filters = filters.model_copy(update={"one": best, "other": second_best})
    runs = filters.runs(workspace)
    first, second = (scored(place, part=part) for place, part in runs)
    both = first.select("id", "text", "truth", one="said", one_right="right").join(
        second.select("id", other="said", other_right="right"),
        on="id",
        how="inner",
        maintain_order="left",
    )
    a, b = pl.col("one_right"), pl.col("other_right")
    parts: dict[str, pl.Expr] = {
        "both right": a & b,
        "only the first": a & ~b,
        "only the second": ~a & b,
        "both wrong": ~a & ~b,
        "different answers": pl.col("one").fill_null("") != pl.col("other").fill_null(""),
    }
    passing = both.filter(*filters.searched(), parts.get(filters.side, True))
    where = turning(filters, "/compare", passing.height)
    return ComparePage(
        one=name_of(*runs[0]),
        other=name_of(*runs[1]),
        figures_link=filters.link("/compare/figures", side="", q=""),
        shared=both.height,
        only_in_one=first.height - both.height,
        only_in_other=second.height - both.height,
        counts={name: both.filter(part).height for name, part in parts.items()},
        links={name: filters.link("/compare", side=name) for name in SIDES},
        filters=filters,
        turning=where,
        pairs=[
            AnswerPair(
                link=prediction_link(filters.one, row["id"], filters.one_part),
                other_link=prediction_link(filters.other, row["id"], filters.other_part),
                **row | {"text": excerpt(row["text"], 300)},
            )
            for _, row in filters.on_page(passing, where.number)
        ],
    )
