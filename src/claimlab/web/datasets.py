"""Dataset pages: records to search, filter, sort and page through, and where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Query

from claimlab.core.types import JsonObject
from claimlab.pages.blocks import excerpt
from claimlab.web.audit_lines import AuditLine, audit_line
from claimlab.web.cleanings import Cleaning, cleanings_of
from claimlab.web.filters import RecordFilters, Turning, turning
from claimlab.web.images import Image, images_of
from claimlab.web.marking import marked, telling_words
from claimlab.web.page import Data, Here, page
from claimlab.web.rows import chosen_rows
from claimlab.web.workspace import (
    FolderName,
    Shape,
    Workspace,
    WorkspaceFolder,
    audits_of,
    digests_of,
)

if TYPE_CHECKING:
    from claimlab.web.counts import CountsPage


class RecordRow(Shape):
    id: str
    text: str
    label: str | None
    split: str | None
    language: str | None
    date: str | None
    source: str | None
    topic: str | None
    link: str
    image: str | None = None
    """A thumbnail of its first image, where the file is in the workspace."""


class LineageStep(Shape):
    """A step of the lineage: what came in and went out, and the dataset that it made."""

    step: str
    records: int | None
    lost: int | None
    link: str | None


class DatasetPage(FolderName):
    """A page of the records that pass the filters."""

    kind: str
    licence: str | None
    synthetic: bool
    notes: list[str]
    records: int
    dated: bool
    filters: RecordFilters
    filter_title: str
    chips: dict[str, str]
    """What was chosen, each with the address that leaves it out."""
    sort_links: dict[str, str]
    turning: Turning
    rows: list[RecordRow]
    counts_link: str
    """What there is among the records that pass the filters."""
    tables: dict[str, int]
    lineage: list[JsonObject]
    stages: list[LineageStep]
    """The lineage as it is drawn."""
    cleanings: list[Cleaning]
    """What left these records, and what left of these records, where a cleaning left out some."""
    audits: list[AuditLine]
    """The audits of exactly these records, or the latest of those that they were made from."""
    words: dict[str, str]
    """Words that tell the classes apart in an audit, and the class of each."""
    words_link: str


def counted(workspace: Workspace, page: DatasetPage) -> CountsPage | None:
    """The counts where they are known: a page does not wait for them."""
    from claimlab.web.counts import counts_page

    place = workspace.get(page.id)
    rows, _ = chosen_rows(workspace, place, page.filters)
    return counts_page(place, page.filters, workspace) if rows.counted else None


@page("/datasets/{place}", "dataset.html.jinja", counted=counted, marked=marked)
def dataset_page(
    place: Data, filters: Annotated[RecordFilters, Query()], workspace: Here
) -> DatasetPage:
    """Records of a dataset, searched and filtered."""
    manifest, base = place.manifest, f"/datasets/{place.entry.id}"
    rows, title = chosen_rows(workspace, place, filters)
    table, number, total = rows.page(filters.page, filters.size)
    images = images_of(workspace, place, table["id"].to_list())
    audits = list(audits_of(workspace, [place.digest]))
    audits = audits or list(audits_of(workspace, digests_of(place)))[-1:]
    return DatasetPage(
        **place.named,
        kind=place.entry.kind,
        licence=manifest.licence,
        synthetic=manifest.synthetic,
        notes=manifest.notes,
        records=int(manifest.counts.get("records", 0)),
        dated=rows.dated,
        filters=filters,
        filter_title=title,
        chips=filters.chips(base),
        sort_links=filters.sort_links(base),
        turning=turning(filters, base, total, number),
        rows=[
            _row(base, r, filters, (number - 1) * filters.size + at, images.get(r["id"]))
            for at, r in enumerate(table.iter_rows(named=True))
        ],
        counts_link=filters.link(f"{base}/counts", page=1),
        tables={n: c for n, c in manifest.counts.items() if isinstance(c, int) and n != "records"},
        lineage=[step.model_dump() for step in manifest.lineage],
        stages=stages_of(workspace, place),
        cleanings=cleanings_of(workspace, place),
        audits=[audit_line(*pair, audits) for pair in audits],
        words=telling_words(workspace, place),
        words_link=filters.link(base, mark=not filters.mark, page=filters.page),
    )


def stages_of(workspace: Workspace, place: WorkspaceFolder) -> list[LineageStep]:
    """Every step with the records that it left. What it began with is what the one before left."""
    lineage = place.manifest.lineage
    if not lineage:
        return []
    begun = [step.counts.get("in", step.counts.get("before")) for step in lineage]
    left = [*begun[1:], place.entry.records]
    parents = [
        [workspace.with_digest(digest) for digest in step.inputs.values()] for step in lineage[1:]
    ]
    links = [next((at.entry.link for at in places if at), None) for places in parents]
    return [
        LineageStep(
            step=step.step,
            records=after,
            lost=before - after if before is not None and after is not None else None,
            link=link,
        )
        for step, before, after, link in zip(lineage, begun, left, [*links, None], strict=True)
    ]


def _row(
    base: str, row: JsonObject, filters: RecordFilters, at: int, images: list[Image] | None
) -> RecordRow:
    """A row of the list; its link says where in the list it is."""
    link = filters.one_link(f"{base}/record", row["id"], at)
    text = excerpt(_around(row["text"] or "", f"{filters.q} {filters.word}"), 400)
    image = images[0].link if images else None
    return RecordRow(**row | {"text": text}, label=row["veracity"], link=link, image=image)


def _around(text: str, hits: str) -> str:
    """The text from a little before the first hit, where that would be out of sight."""
    places = [text.lower().find(hit) for hit in hits.lower().split()]
    first = min((place for place in places if place >= 0), default=0)
    return text if first < 300 else f"… {text[first - 80 :]}"
