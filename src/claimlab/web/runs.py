"""Run pages: every prediction beside its label, filtered; the confusion matrix; two runs side by
side. Two runs side
by side: where both are right, both wrong, or only one is.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args
from urllib.parse import urlencode

import polars as pl
from fastapi import Query
from pydantic import BaseModel, Field

from claimlab.core.types import JsonObject
from claimlab.pages.excerpt import excerpt
from claimlab.web.datasets import record_link
from claimlab.web.filters import (
    BLANK,
    Facet,
    Filters,
    Part,
    Turning,
    Values,
    check_sort,
    facet,
    turning,
)
from claimlab.web.page import Pages
from claimlab.web.predictions import (
    SUBGROUPS,
    call_rows,
    prediction_link,
    prediction_of,
    run_of,
    runs_in,
    scored,
    tally,
)
from claimlab.web.workspace import Place, Workspace

SORTABLE = ("id", "truth", "said", "confidence")
Share = Annotated[float | None, Field(ge=0, le=1), BLANK]


class RunFilters(Filters):
    """Which predictions of a run."""

    part: Part = 0
    right: Annotated[
        Literal["", "right", "wrong", "none"], Field(description="none: no usable answer.")
    ] = ""
    truth: Values = []
    said: Values = []
    least: Share = None
    most: Share = None
    subgroup: Annotated[
        str, Field(max_length=100, description="What to tell subgroups apart by.")
    ] = "language"
    value: Values = []


class Prediction(BaseModel):
    id: str
    text: str
    truth: str
    said: str | None
    right: bool
    confidence: float | None
    rationale: str | None
    link: str


class MatrixCell(BaseModel):
    count: int
    link: str
    hit: bool


class RunLink(BaseModel):
    name: str
    link: str
    chosen: bool


class RunPage(BaseModel):
    id: str
    name: str
    runs: list[RunLink] = Field(description="The runs of the folder, where it holds several.")
    detector: str | None
    task: str
    classes: list[str]
    answers: list[str]
    matrix: list[list[MatrixCell]]
    accuracy: float | None
    macro_f1: float | None
    filters: RunFilters
    filter_pairs: list[tuple[str, str]]
    turning: Turning
    sort_links: dict[str, str]
    facets: list[Facet]
    subgroups: dict[str, str]
    predictions: list[Prediction]
    others: dict[str, str]
    notes: list[str]


class PredictionPage(BaseModel):
    run: str
    id: str
    text: str | None
    truth: str | None
    said: str | None
    scores: dict[str, float | None]
    rationale: str | None
    columns: JsonObject
    evidence: list[JsonObject]
    calls: list[dict[str, str]]
    calls_note: str
    record_link: str


def add_runs(pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add("/runs/{run}", "run.html.jinja", title="Predictions of a run, filtered")
    def run(run: str, filters: Annotated[RunFilters, Query()]) -> RunPage:
        return run_page(workspace, workspace.get(run, "run"), filters)

    @pages.add(
        "/runs/{run}/prediction",
        "prediction.html.jinja",
        title="One prediction with all that is recorded",
    )
    def prediction(
        run: str, id: Annotated[str, Query(max_length=2_000)], part: Part = 0
    ) -> PredictionPage:
        return prediction_page(workspace.get(run, "run"), id, part)


def run_page(workspace: Workspace, place: Place, filters: RunFilters) -> RunPage:
    check_sort(filters.sort, SORTABLE)
    base, run = f"/runs/{place.entry.id}", scored(place, filters.subgroup, filters.part)
    runs = runs_in(place)
    shown = chosen(run.table, filters)
    where = turning(filters, base, shown.height)
    start = (where.number - 1) * filters.size
    answers = [
        *run.classes,
        *(word for word in ("other", "none") if word in run.answers - set(run.classes)),
    ]
    return RunPage(
        id=place.entry.id,
        name=place.entry.name,
        detector=run.detector,
        task=run.task,
        classes=list(run.classes),
        runs=[
            RunLink(name=r.name, link=RunFilters(part=i).link(base), chosen=i == filters.part)
            for i, r in enumerate(runs)
            if len(runs) > 1
        ],
        answers=answers,
        matrix=_matrix(run.table, run.classes, answers, filters, base),
        accuracy=run.accuracy,
        macro_f1=run.macro_f1,
        filters=filters,
        filter_pairs=filters.pairs(),
        turning=where,
        sort_links={
            c: filters.link(base, sort=f"-{c}" if filters.sort == c else c) for c in SORTABLE
        },
        facets=_facets(run.table, shown, filters, base),
        subgroups={s: filters.link(base, subgroup=s, value=[]) for s in SUBGROUPS},
        predictions=[
            _prediction(base, filters.part, r)
            for r in shown.slice(start, filters.size).iter_rows(named=True)
        ],
        others=_others(workspace, place, filters.part),
        notes=place.manifest.notes if place.manifest else [],
    )


def _others(workspace: Workspace, place: Place, part: int) -> dict[str, str]:
    """Runs to compare with, of this folder and of others."""
    one = {"one": place.entry.id, **({"one_part": part} if part else {})}
    inside = {run.name: (place.entry.id, i) for i, run in enumerate(runs_in(place)) if i != part}
    outside = {e.name: (e.id, 0) for e in workspace.entries("run") if e.id != place.entry.id}
    return {
        name: f"/compare?{urlencode({**one, 'other': other, **({'other_part': i} if i else {})})}"
        for name, (other, i) in {**inside, **outside}.items()
    }


def chosen(table: pl.DataFrame, filters: RunFilters) -> pl.DataFrame:
    """The predictions that pass the filters, in order."""
    text = pl.col("text").fill_null("").str.to_lowercase()
    conditions = [text.str.contains(word.lower(), literal=True) for word in filters.q.split()]
    right = {
        "right": pl.col("right"),
        "wrong": ~pl.col("right"),
        "none": pl.col("answer") == "none",
    }
    if filters.right:
        conditions.append(right[filters.right])
    if filters.truth:
        conditions.append(pl.col("truth").is_in(filters.truth))
    if filters.said:
        conditions.append(pl.col("answer").is_in(filters.said))
    if filters.least is not None:
        conditions.append(pl.col("confidence") >= filters.least)
    if filters.most is not None:
        conditions.append(pl.col("confidence") <= filters.most)
    if filters.value:
        conditions.append(
            pl.col("subgroup").list.eval(pl.element().is_in(filters.value)).list.any()
        )
    out = table.filter(*conditions)
    if filters.sort:
        column = {"said": "answer"}.get(filters.sort.lstrip("-"), filters.sort.lstrip("-"))
        out = out.sort(
            [column, "id"], descending=[filters.sort.startswith("-"), False], nulls_last=True
        )
    return out


def _matrix(
    table: pl.DataFrame,
    classes: tuple[str, ...],
    answers: list[str],
    filters: RunFilters,
    base: str,
) -> list[list[MatrixCell]]:
    """Labels in rows, answers in columns; each cell leads to its predictions."""
    counts = {(t, a): n for t, a, n in table.group_by("truth", "answer").len().iter_rows()}
    return [
        [
            MatrixCell(
                count=counts.get((truth, answer), 0),
                hit=truth == answer,
                link=filters.link(base, truth=[truth], said=[answer], right=""),
            )
            for answer in answers
        ]
        for truth in classes
    ]


def _facets(
    table: pl.DataFrame, shown: pl.DataFrame, filters: RunFilters, base: str
) -> list[Facet]:
    groups = shown.explode("subgroup")["subgroup"].drop_nulls()
    known = dict.fromkeys(
        table.explode("subgroup")["subgroup"].drop_nulls().unique().sort().to_list()[:50], 0
    )
    return [
        facet(filters, base, "truth", "Label", tally(shown["truth"])),
        facet(filters, base, "said", "Predicted", tally(shown["answer"])),
        facet(
            filters,
            base,
            "value",
            f"Subgroup: {filters.subgroup}",
            list({**known, **dict(tally(groups))}.items()),
        ),
    ]


def _prediction(base: str, part: int, row: JsonObject) -> Prediction:
    return Prediction(
        id=row["id"],
        text=excerpt(row["text"] or "", 300),
        truth=row["truth"],
        said=row["said"],
        right=row["right"],
        confidence=row["confidence"],
        rationale=excerpt(row["rationale"], 300) if row["rationale"] else None,
        link=prediction_link(base, row["id"], part),
    )


def prediction_page(place: Place, id: str, part: int) -> PredictionPage:
    row, scores, evidence = prediction_of(place, id, part)
    calls, note = call_rows(place, row.get("text"))
    known = (
        "id",
        "text",
        "truth",
        "said",
        "scores",
        "rationale",
        "answer",
        "right",
        "confidence",
        "subgroup",
        "meta",
    )
    return PredictionPage(
        run=place.entry.id,
        id=id,
        text=row.get("text"),
        truth=row.get("truth"),
        said=row.get("said"),
        scores=scores,
        rationale=row.get("rationale"),
        evidence=evidence,
        calls=calls,
        calls_note=note,
        columns={k: v for k, v in row.items() if v is not None and k not in known},
        record_link=record_link(place.entry.id, id),
    )


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
