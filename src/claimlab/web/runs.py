"""Run pages: every prediction beside its label, filtered, and the confusion matrix. What has to be
resampled follows the page.
"""

from __future__ import annotations

from typing import Annotated

import polars as pl
from fastapi import Query

from claimlab.core.types import JsonObject
from claimlab.evaluate.confusion import accuracy_of, macro_f1_of
from claimlab.pages.blocks import excerpt
from claimlab.web.audit_lines import AuditLine, audit_line
from claimlab.web.compare import compare_link
from claimlab.web.defences import DefenceLine, parts_of
from claimlab.web.filters import Facet, Turning, facet, tally, turning
from claimlab.web.page import Here, Run, page
from claimlab.web.predictions import SUBGROUPS, run_of, runs_in, scored, source_of, usual_trait
from claimlab.web.run_filters import RunFilters, chosen
from claimlab.web.workspace import (
    FolderName,
    Shape,
    Workspace,
    WorkspaceFolder,
    audits_of,
    digests_of,
)

FIRST = 5  # errors on the page of a run


class PredictionRow(Shape):
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


class RunPage(FolderName):
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
    predictions: list[PredictionRow]
    others: dict[str, str]
    """The other runs of the folder, to compare with."""
    figures_link: str
    errors: int
    errors_link: str | None
    """The most confident error; the next are behind it."""
    defence: DefenceLine | None
    """What the score is made of, where that was measured."""
    defend_link: str
    """The form that measures it."""
    audits: list[AuditLine]
    """Audits of the records that it was made from, whose verdict asks for care."""
    first_errors: list[PredictionRow]
    """The most confident ones."""
    notes: list[str]
    """Those of the run itself, not of its dataset."""


@page("/runs/{place}", "run.html.jinja")
def run_page(place: Run, filters: Annotated[RunFilters, Query()], workspace: Here) -> RunPage:
    """Predictions of a run, filtered."""
    base, part, runs = f"/runs/{place.entry.id}", filters.part, runs_in(place)
    run, table = run_of(place, part), scored(place, filters.subgroup, part)
    passing = chosen(table, filters)
    errors = RunFilters(part=part, right="wrong", sort="-confidence")
    wrong = chosen(table, errors)
    source, by = source_of(workspace, place), filters.subgroup or usual_trait(run)
    where = turning(filters, base, passing.height)
    extra = {"other", "none"} & set(table["answer"]) - set(run.classes)
    answers = [*run.classes, *sorted(extra, reverse=True)]
    return RunPage(
        **place.named,
        detector=run.about.detector,
        task=run.task.name,
        classes=list(run.classes),
        runs=[
            RunLink(name=run_here.name, link=RunFilters(part=at).link(base), chosen=at == part)
            for at, run_here in enumerate(runs)
            if len(runs) > 1
        ],
        answers=answers,
        matrix=_matrix(table, run.classes, answers, filters, base),
        accuracy=accuracy_of(run.answers) if table.height else None,
        macro_f1=macro_f1_of(run.answers) if table.height else None,
        filters=filters,
        turning=where,
        sort_links=filters.sort_links(base),
        facets=_facets(table, passing, filters, base, by),
        by=by,
        subgroups={trait: filters.link(base, subgroup=trait, value=[]) for trait in SUBGROUPS},
        predictions=[
            _row(row, filters, base, at) for at, row in filters.on_page(passing, where.number)
        ],
        others={
            run_here.name: compare_link(place, place, part, at)
            for at, run_here in enumerate(runs)
            if at != part
        },
        figures_link=RunFilters(part=part, subgroup=filters.subgroup).link(f"{base}/figures"),
        errors=wrong.height,
        errors_link=(
            errors.one_link(f"{base}/prediction", wrong["id"][0], 0) if wrong.height else None
        ),
        defence=parts_of(workspace, place) if not part else None,
        defend_link=f"/datasets/{place.entry.id}/run/defend",
        audits=_care(workspace, place),
        first_errors=[_row(row, errors, base, at) for at, row in errors.on_page(wrong, 1)][:FIRST],
        notes=[
            note
            for note in place.manifest.notes
            if source is None or note not in source.manifest.notes
        ],
    )


def _row(row: JsonObject, filters: RunFilters, base: str, at: int) -> PredictionRow:
    return PredictionRow(
        **row
        | {
            "text": excerpt(row["text"], 300),
            "rationale": row["rationale"] and excerpt(row["rationale"], 300),
            "link": filters.one_link(f"{base}/prediction", row["id"], at),
        }
    )


def _care(workspace: Workspace, place: WorkspaceFolder) -> list[AuditLine]:
    """The audits of these records or the latest of those that they were made from, unless they
    call the records usable."""
    audits = list(audits_of(workspace, [place.digest]))
    audits = audits or list(audits_of(workspace, digests_of(place)))[-1:]
    lines = [audit_line(*pair, audits) for pair in audits]
    return [line for line in lines if line.tone in ("fail", "warn")]


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
    table: pl.DataFrame, passing: pl.DataFrame, filters: RunFilters, base: str, by: str
) -> list[Facet]:
    every_subgroup, groups = (rows["subgroup"].explode().drop_nulls() for rows in (table, passing))
    subgroups = {**dict.fromkeys(every_subgroup.unique().sort()[:50], 0), **dict(tally(groups))}
    return [
        facet(filters, base, "truth", "Label", tally(passing["truth"])),
        facet(filters, base, "said", "Predicted", tally(passing["answer"])),
        facet(filters, base, "value", f"Subgroup: {by}", subgroups.items()),
    ]
