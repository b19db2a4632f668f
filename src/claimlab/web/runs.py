"""Run pages: every prediction beside its label, filtered; the confusion matrix; two runs side by
side: where both are right, both wrong, or only one is. What has to be resampled follows the page.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, get_args
from urllib.parse import urlencode

import polars as pl
from fastapi import Query
from pydantic import Field

from claimlab.core.types import JsonObject
from claimlab.evaluate.compare import Board, Comparison, compare
from claimlab.evaluate.front import baselines
from claimlab.evaluate.metric import accuracy_of, macro_f1_of
from claimlab.evaluate.metrics.table_scores import calibration
from claimlab.evaluate.slices import slice_run
from claimlab.pages.blocks import excerpt, probability
from claimlab.web.filters import (
    BLANK,
    Choice,
    Facet,
    Filters,
    Part,
    Turning,
    Values,
    facet,
    tally,
    turning,
)
from claimlab.web.page import Here, Run, page
from claimlab.web.predictions import (
    SUBGROUPS,
    board_of,
    call_rows,
    name_of,
    prediction_link,
    prediction_of,
    run_of,
    runs_in,
    same_records,
    score_of,
    scored,
    source_of,
    title_of,
    two_best,
    usual_trait,
    why_of,
)
from claimlab.web.workspace import Line, Named, Place, Shape, Word, Workspace, record_link

Share = Annotated[float | None, Field(ge=0, le=1), BLANK]


class RunFilters(Filters):
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


class Prediction(Shape):
    id: str
    text: str
    truth: str
    said: str | None
    right: bool
    confidence: float | None
    rationale: str | None
    link: str


class MatrixCell(Shape):
    count: int
    link: str
    hit: bool


class RunLink(Shape):
    name: str
    link: str
    chosen: bool


class RunPage(Named):
    runs: list[RunLink]
    """The runs of the folder, where it holds several."""
    detector: str | None
    task: str
    classes: list[str]
    answers: list[str]
    matrix: list[list[MatrixCell]]
    accuracy: float | None
    macro_f1: float | None
    filters: RunFilters
    turning: Turning
    sort_links: dict[str, str]
    facets: list[Facet]
    subgroups: dict[str, str]
    by: str
    """What subgroups are told apart by."""
    predictions: list[Prediction]
    others: dict[str, str]
    """The other runs of the folder, to compare with."""
    figures_link: str
    errors: int
    errors_link: str | None
    """The most confident error; the next are behind it."""
    notes: list[str]
    """Those of the run itself, not of its dataset."""


class Rival(Shape):
    """A run on the same records."""

    name: str
    score: float
    interval: tuple[float, float] | None
    ranks: str
    tied: bool
    link: str | None
    """Both runs side by side; null for the run itself."""


class Subgroup(Shape):
    value: str
    n: int
    accuracy: float | None
    macro_f1: float | None
    interval: tuple[float, float] | None
    why: str | None
    link: str


class RunFigures(Shape):
    """How good the run is, beside baselines and other runs on the same records."""

    run: str
    macro_f1: float | None
    interval: tuple[float, float] | None
    baselines: dict[str, float | None]
    headline: str
    """Which runs on these records cannot be told apart."""
    rivals: list[Rival]
    ece: float | None
    curve: list[tuple[float, float, int]]
    """Confidence, share right and predictions, in ten bins of confidence."""
    curve_note: str
    by: str
    subgroups: list[Subgroup]
    suppressed: int
    """Subgroups that are too small to say something of."""


class WeighedWord(Shape):
    text: str
    weight: float
    """What it adds to the answer, as a share of the largest."""


class WhyPage(Shape):
    """The words of a text by what they add to the answer of a linear detector."""

    run: str
    id: str
    said: str | None
    words: list[WeighedWord]
    note: str


class PredictionChoice(RunFilters, Choice):
    """A prediction, and where it is in the list."""


class PredictionPage(Shape):
    run: str
    name: str
    previous: str | None
    next: str | None
    place: str
    """Which one of the list it is."""
    back: str
    why_link: str
    id: str
    text: str | None
    truth: str | None
    said: str | None
    scores: dict[str, float]
    rationale: str | None
    columns: JsonObject
    evidence: list[JsonObject]
    calls: list[dict[str, str]]
    calls_note: str
    record_link: str


@page("/runs/{place}/why", "why.html.jinja")
def why_page(place: Run, choice: Annotated[PredictionChoice, Query()], workspace: Here) -> WhyPage:
    """What words add to an answer."""
    row, _, _ = prediction_of(place, choice.id, choice.part)
    words, note = why_of(workspace, place, row["text"] or "", row["said"])
    most = max((abs(weight) for _, weight in words), default=0.0) or 1.0
    return WhyPage(
        run=place.entry.id,
        id=choice.id,
        said=row["said"],
        words=[WeighedWord(text=text, weight=round(weight / most, 3)) for text, weight in words],
        note=note,
    )


@page("/runs/{place}", "run.html.jinja")
def run_page(place: Run, filters: Annotated[RunFilters, Query()], workspace: Here) -> RunPage:
    """Predictions of a run, filtered."""
    base, part, runs = f"/runs/{place.entry.id}", filters.part, runs_in(place)
    run, table = run_of(place, part), scored(place, filters.subgroup, part)
    shown = chosen(table, filters)
    errors = RunFilters(part=part, right="wrong", sort="-confidence")
    wrong = chosen(table, errors)
    source, by = source_of(workspace, place), filters.subgroup or usual_trait(run)
    where = turning(filters, base, shown.height)
    extra = {"other", "none"} & set(table["answer"]) - set(run.classes)
    answers = [*run.classes, *sorted(extra, reverse=True)]
    return RunPage(
        **place.named,
        detector=run.about.detector,
        task=run.task.name,
        classes=list(run.classes),
        runs=[
            RunLink(name=one.name, link=RunFilters(part=at).link(base), chosen=at == part)
            for at, one in enumerate(runs)
            if len(runs) > 1
        ],
        answers=answers,
        matrix=_matrix(table, run.classes, answers, filters, base),
        accuracy=accuracy_of(run.answers) if table.height else None,
        macro_f1=macro_f1_of(run.answers) if table.height else None,
        filters=filters,
        turning=where,
        sort_links=filters.sort_links(base),
        facets=_facets(table, shown, filters, base, by),
        by=by,
        subgroups={one: filters.link(base, subgroup=one, value=[]) for one in SUBGROUPS},
        predictions=[
            Prediction(
                **row
                | {
                    "text": excerpt(row["text"], 300),
                    "rationale": row["rationale"] and excerpt(row["rationale"], 300),
                    "link": filters.one_link(f"{base}/prediction", row["id"], at),
                }
            )
            for at, row in filters.on_page(shown, where.number)
        ],
        others={
            one.name: _compared(place, place, part, at) for at, one in enumerate(runs) if at != part
        },
        figures_link=RunFilters(part=part, subgroup=filters.subgroup).link(f"{base}/figures"),
        errors=wrong.height,
        errors_link=(
            errors.one_link(f"{base}/prediction", wrong["id"][0], 0) if wrong.height else None
        ),
        notes=[
            note
            for note in place.manifest.notes
            if source is None or note not in source.manifest.notes
        ],
    )


def _compared(place: Place, other: Place, part: int, other_part: int = 0) -> str:
    runs = CompareFilters(
        one=place.entry.id, other=other.entry.id, one_part=part, other_part=other_part
    )
    return runs.link("/compare")


@page("/runs/{place}/figures", "run-figures.html.jinja")
def run_figures(place: Run, filters: Annotated[RunFilters, Query()], workspace: Here) -> RunFigures:
    """A run beside others, and subgroups."""
    part, run = filters.part, run_of(place, filters.part)
    by = filters.subgroup or usual_trait(run)
    score, ends = score_of(place, part)
    places = same_records(workspace, place) if not part else [place]
    board = board_of(places) if len(places) > 1 else None
    if board is not None:  # one interval on the page, of the resamples that rank the runs
        ends = next((one.interval for one in board.standings if one.name == title_of(place)), ends)
    known = calibration(run.answers)
    slices = slice_run(run, by)
    base = f"/runs/{place.entry.id}"
    return RunFigures(
        run=place.entry.id,
        macro_f1=score,
        interval=ends,
        baselines={one.name: one.macro_f1 for one in baselines(run)} if run.table.height else {},
        headline=board.headline() if board is not None else "",
        rivals=_rivals(places, board),
        ece=known.ece,
        curve=[(one.confidence, one.accuracy, one.n) for one in known.curve],
        curve_note=known.why or "",
        by=by,
        subgroups=[
            Subgroup(
                **vars(one),
                interval=one.macro_f1_interval,
                link=RunFilters(part=part, subgroup=by, value=[one.value]).link(base),
            )
            for one in slices.cells
        ],
        suppressed=slices.suppressed,
    )


def _rivals(places: list[Place], board: Board | None) -> list[Rival]:
    if board is None:
        return []
    links = {title_of(other): _compared(places[0], other, 0) for other in places[1:]}
    return [
        Rival(**vars(one) | {"ranks": board.ranks[one.name]}, link=links.get(one.name))
        for one in board.standings
    ]


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
    out = table.filter(*filters.searched(), *(one for value, one in conditions if value))
    if not filters.sort:
        return out
    column = filters.sort.removeprefix("-").replace("said", "answer")
    down = [filters.sort.startswith("-"), False]
    return out.sort([column, "id"], descending=down, nulls_last=True)


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
    table: pl.DataFrame, shown: pl.DataFrame, filters: RunFilters, base: str, by: str
) -> list[Facet]:
    known, groups = (one["subgroup"].explode().drop_nulls() for one in (table, shown))
    subgroups = {**dict.fromkeys(known.unique().sort()[:50], 0), **dict(tally(groups))}
    return [
        facet(filters, base, "truth", "Label", tally(shown["truth"])),
        facet(filters, base, "said", "Predicted", tally(shown["answer"])),
        facet(filters, base, "value", f"Subgroup: {by}", subgroups.items()),
    ]


SHOWN = ("id", "text", "truth", "said", "rationale")
KNOWN = {*SHOWN, "scores", "meta"}


@page("/runs/{place}/prediction", "prediction.html.jinja")
def prediction_page(place: Run, choice: Annotated[PredictionChoice, Query()]) -> PredictionPage:
    """One prediction with all that is recorded."""
    base = f"/runs/{place.entry.id}"
    row, scores, evidence = prediction_of(place, choice.id, choice.part)
    calls, note = call_rows(place, row["text"])
    table = scored(place, choice.subgroup, choice.part)
    ids = chosen(table, choice)["id"] if choice.at is not None else table["id"].clear()

    def beside(step: int) -> str | None:
        return choice.beside(
            f"{base}/prediction", step, lambda at: ids[at] if at < len(ids) else None
        )

    return PredictionPage(
        **{name: row[name] for name in SHOWN},
        run=place.entry.id,
        name=place.entry.name,
        previous=beside(-1),
        next=beside(1),
        place="" if choice.at is None else f"{choice.at + 1:,} of {len(ids):,}",
        back=choice.back(base),
        why_link=f"{base}/why?{urlencode({'id': choice.id, 'part': choice.part})}",
        scores=scores,
        evidence=evidence,
        calls=calls,
        calls_note=note,
        columns={k: v for k, v in row.items() if v is not None and k not in KNOWN},
        record_link=record_link(place.entry.id, choice.id),
    )


Side = Literal[
    "", "both right", "only the first", "only the second", "both wrong", "different answers"
]
SIDES: tuple[Side, ...] = get_args(Side)


class CompareFilters(Filters):
    one: Line
    """A run."""
    other: Line = ""
    """Another run; where it is left out, the two best on the records of the first."""
    one_part: Part = 0
    other_part: Part = 0
    side: Side = ""

    def runs(self, workspace: Workspace) -> list[tuple[Place, int]]:
        sides = (self.one, self.one_part), (self.other, self.other_part)
        return [(workspace.get(id, "run"), part) for id, part in sides]


class Pair(Shape):
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
    pairs: list[Pair]
    figures_link: str


class CompareFigures(Shape):
    """Whether the difference of two runs is more than chance."""

    headline: str
    rivals: list[Rival]
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
    compared = compare(first, second, seed=0)
    return CompareFigures(
        headline=board.headline(),
        rivals=_rivals(list(places), board),
        chance=_chance(replace(compared, p_holm=compared.p)),
    )


def _chance(compared: Comparison) -> str:
    if compared.difference is None or compared.interval is None:
        return compared.why or ""
    low, high = (f"{100 * end:+.1f}" for end in compared.interval)
    verdict = "It may be chance." if compared.better is None else "It is more than chance."
    return (
        f"The difference is {100 * compared.difference:+.1f} points (95% interval {low} to {high};"
        f" McNemar's test: p {probability(compared.p).text}). {verdict}"
    )


@page("/compare", "compare.html.jinja")
def compare_page(filters: Annotated[CompareFilters, Query()], workspace: Here) -> ComparePage:
    """Two runs side by side."""
    if not filters.other:
        one, other = two_best(workspace, workspace.get(filters.one, "run"))
        filters = filters.model_copy(update={"one": one, "other": other})
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
    shown = both.filter(*filters.searched(), parts.get(filters.side, True))
    where = turning(filters, "/compare", shown.height)
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
            Pair(
                link=prediction_link(filters.one, row["id"], filters.one_part),
                other_link=prediction_link(filters.other, row["id"], filters.other_part),
                **row | {"text": excerpt(row["text"], 300)},
            )
            for _, row in filters.on_page(shown, where.number)
        ],
    )
