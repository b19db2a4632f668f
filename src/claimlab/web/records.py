"""The page of one record: its text and columns, what the side tables say of it, its
near-duplicates, and which findings point at it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
import polars as pl
from fastapi import Query

from claimlab.core.dataset import RECORDS
from claimlab.core.errors import NotFound
from claimlab.core.tables import read_parquet, scan_parquet
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import excerpt
from claimlab.web.counts import changed
from claimlab.web.filters import COLUMNS, RecordFilters, RowChoice
from claimlab.web.images import Image, images_of
from claimlab.web.marking import marked, telling_words
from claimlab.web.memo import Memo, digest_of
from claimlab.web.page import Data, Here, page
from claimlab.web.predictions import prediction_link, scores_of, title_of
from claimlab.web.reviewers import reviews_here
from claimlab.web.rows import MOST_ROWS, Numbers, about, as_text, chosen_rows, take
from claimlab.web.workspace import (
    DATASETS,
    Shape,
    Workspace,
    WorkspaceFolder,
    digests_of,
    findings_in,
    record_link,
)

MOST_TEXTS = 200_000  # among which near-duplicates are searched while a page waits
_clusters = Memo(8)


class Near(Shape):
    """A record with the same text or nearly the same."""

    id: str
    text: str
    label: str | None
    split: str | None
    link: str


class Pointer(Shape):
    """A finding that points at the record."""

    audit: str
    title: str
    verdict: str
    link: str


class RunAnswer(Shape):
    """What a run said of the record."""

    run: str
    said: str | None
    score: float | None
    link: str


class ReviewDecision(Shape):
    """What annotators decided about the record."""

    review: str
    value: str | None
    how: str
    annotators: str | None
    link: str


class RecordChoice(RecordFilters, RowChoice):
    """A record, and where it is in the list."""


class RecordPage(Shape):
    dataset: str
    previous: str | None
    next: str | None
    place: str
    """Which one of the list it is."""
    back: str
    """The list that the record is in."""
    id: str
    text: str | None
    columns: JsonObject
    meta: JsonObject
    set_aside: dict[str, str] | None  # the table, step and reason, where the record was taken out
    tables: dict[str, list[JsonObject]]
    images: list[Image]
    """Thumbnails of those whose files are in the workspace."""
    near: list[Near]
    near_note: str
    findings: list[Pointer]
    answers: list[RunAnswer]
    """Predictions of every run on these records."""
    decisions: list[ReviewDecision]
    evidence: list[JsonObject]
    words: dict[str, str]
    hits: str
    traces_link: str | None
    """Where the record is a claim that was evolved."""
    lineage: list[JsonObject]
    warning: str | None


@page("/datasets/{place}/record", "record.html.jinja", marked=marked)
def record_page(
    place: Data, choice: Annotated[RecordChoice, Query()], workspace: Here
) -> RecordPage:
    """One record with everything known of it."""
    id, base = choice.id, f"/datasets/{place.entry.id}"
    rows, _ = chosen_rows(workspace, place, choice)
    row, aside = find(place, id)
    near, note = ([], "") if aside else near_duplicates(place, id)
    text, meta = row.pop("text"), _object(row.pop("meta"))
    tables = side_rows(place, id)
    traced = place.entry.kind == "traces"
    return RecordPage(
        dataset=place.entry.id,
        previous=choice.beside(f"{base}/record", -1, rows.id_at),
        next=choice.beside(f"{base}/record", 1, rows.id_at),
        place="" if choice.at is None else rows.place(choice.at),
        back=choice.back(base),
        id=id,
        text=text,
        columns={k: v for k, v in row.items() if v is not None},
        meta=meta,
        set_aside=aside,
        evidence=tables.pop("evidence", []),
        tables={name: rows for name, rows in tables.items() if name != "predictions"},
        images=images_of(workspace, place, [id]).get(id, []),
        answers=answers(workspace, place, id),
        decisions=decisions(workspace, place, id),
        words=telling_words(workspace, place),
        hits=f"{choice.q} {choice.word}".strip(),
        traces_link=f"/traces/{place.entry.id}/viewer" if traced else None,
        near=near,
        near_note=note,
        findings=pointers(workspace, place, id),
        lineage=[step.model_dump() for step in place.manifest.lineage],
        warning=changed(place),
    )


def find(place: WorkspaceFolder, id: str) -> tuple[JsonObject, dict[str, str] | None]:
    """The record, and the table it was moved to if it is no longer among the records."""
    for name in ("records", "dropped", "doubtful"):
        if (file := place.table(name)) is None:
            continue
        scan = as_text(scan_parquet(file).filter(id=id))
        for row in scan.head(1).collect().to_dicts():
            if name == "records":
                return row, None
            why = {column: row.pop(column) or "" for column in ("step", "reason")}
            return row, {"table": name, **why}
    raise NotFound(
        f"'{place.entry.name}' has no record '{excerpt(id, 100)}'.", "Search for it in the dataset."
    )


def side_rows(place: WorkspaceFolder, id: str) -> dict[str, list[JsonObject]]:
    """The rows of each side table for the record, a limited number of each."""
    names = [name for name in place.manifest.files if "/" not in name and name != RECORDS]
    return {
        name.removesuffix(".parquet"): rows
        for name in names
        if name.endswith(".parquet") and (rows := about(place.folder / name, id))
    }


def answers(workspace: Workspace, place: WorkspaceFolder, id: str) -> list[RunAnswer]:
    """What the runs on records of this family said of the record."""
    family = digests_of(place)
    out: list[RunAnswer] = []
    for run in workspace.of("run"):
        near = run.entry.study in (None, place.entry.study) and digests_of(run) & family
        file = run.table("predictions")
        if not near or file is None or len(out) >= MOST_ROWS:
            continue
        for row in about(file, id)[:1]:
            score = max(scores_of(row.get("scores")).values(), default=None)
            link = prediction_link(run.entry.id, id)
            out.append(RunAnswer(run=title_of(run), said=row.get("label"), score=score, link=link))
    return out


def decisions(workspace: Workspace, place: WorkspaceFolder, id: str) -> list[ReviewDecision]:
    """What reviews of this dataset, or of one that it was made from, say of the record."""
    digests = digests_of(place)
    family = [
        place_of_family
        for place_of_family in workspace.of(*DATASETS)
        if place_of_family.digest in digests
    ]
    fingerprints = {place_of_family.manifest.fingerprint() for place_of_family in family}
    decisions = []
    for entry, review in reviews_here(workspace):
        if review.project.origin.fingerprint not in fingerprints:
            continue
        here = pl.any_horizontal(pl.col("record_id", "other_id") == id)
        rows = review.results().filter(here).head(MOST_ROWS).iter_rows(named=True)
        decisions += [ReviewDecision(**row, review=entry.name, link=entry.link) for row in rows]
    return decisions


def near_duplicates(place: WorkspaceFolder, id: str) -> tuple[list[Near], str]:
    """The other records of its cluster, or why they were not looked for."""
    file = place.folder / RECORDS
    if (place.entry.records or 0) > MOST_TEXTS:
        note = f"Not searched for among more than {MOST_TEXTS:,} texts: `claimlab audit` does it."
        return [], note
    labels = _clusters.get(digest_of(file), lambda: _labels(place))
    scan = scan_parquet(file, row_index_name="row").filter(id=id)
    cluster = labels[scan.select(pl.col("row").first()).collect().item()]
    if cluster < 0:
        return [], ""
    rows: Numbers = np.flatnonzero(labels == cluster).astype(np.uint32)
    neighbours = take(file, COLUMNS, rows[: MOST_ROWS + 1]).filter(pl.col("id") != id)
    near = [
        Near(
            **row | {"text": excerpt(row["text"] or "", 400)},
            label=row["veracity"],
            link=record_link(place.entry.id, row["id"]),
        )
        for row in neighbours.iter_rows(named=True)
    ]
    more = len(rows) - 1 - len(near)
    return near, f"{more:,} more." if more else ""


def _labels(place: WorkspaceFolder) -> np.ndarray[Any, np.dtype[np.int64]]:
    from claimlab.text.neardup import find_clusters

    return find_clusters(read_parquet(place.folder / RECORDS, columns=["text"])["text"]).labels


def pointers(workspace: Workspace, place: WorkspaceFolder, id: str) -> list[Pointer]:
    """The findings of audits of exactly these records that name the record."""
    from claimlab.audit.views.wording import finding_title

    return [
        Pointer(
            audit=other.entry.name,
            title=finding_title(finding),
            verdict=finding.verdict,
            link=f"{other.entry.link}/findings/{number}",
        )
        for other in workspace.of("audit")
        for number, (audit, finding) in enumerate(findings_in(other))
        if audit.digest == place.digest and any(id in part.records for part in finding.every)
    ]


def _object(text: str | None) -> JsonObject:
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {"meta": text}
    return value if isinstance(value, dict) else {"meta": value}
