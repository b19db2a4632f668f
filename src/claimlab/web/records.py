"""The page of one record: its text and columns, what the side tables say of it, its
near-duplicates, and which findings point at it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
import polars as pl
from fastapi import Query
from pydantic import BaseModel

from claimlab.core.dataset import RECORDS
from claimlab.core.errors import NotFound
from claimlab.core.types import JsonObject
from claimlab.pages.excerpt import excerpt
from claimlab.web.datasets import ALL, changed, parquet, record_link
from claimlab.web.filters import COLUMNS
from claimlab.web.page import Pages
from claimlab.web.rows import Numbers, as_text, take
from claimlab.web.workspace import Memo, Place, Workspace, digest_of, findings_in

MOST_TEXTS = 200_000  # among which near-duplicates are searched while a page waits
MOST_ROWS = 50  # of a side table
ASIDE = ("dropped", "doubtful")
_clusters = Memo(8)


class Near(BaseModel):
    """A record with the same text or nearly the same."""

    id: str
    text: str
    label: str | None
    split: str | None
    link: str


class Pointer(BaseModel):
    """A finding that points at the record."""

    audit: str
    title: str
    verdict: str
    link: str


class RecordPage(BaseModel):
    dataset: str
    id: str
    text: str | None
    columns: JsonObject
    meta: JsonObject
    set_aside: dict[str, str] | None  # the table, step and reason, where the record was taken out
    tables: dict[str, list[JsonObject]]
    near: list[Near]
    near_note: str
    findings: list[Pointer]
    lineage: list[JsonObject]
    warning: str | None


def add_records(pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add(
        "/datasets/{dataset}/record",
        "record.html.jinja",
        title="One record with everything known of it",
    )
    def record(dataset: str, id: Annotated[str, Query(max_length=2_000)]) -> RecordPage:
        return record_page(workspace, workspace.get(dataset, *ALL), id)


def record_page(workspace: Workspace, place: Place, id: str) -> RecordPage:
    row, aside = find(place, id)
    near, note = ([], "") if aside else near_duplicates(place, id)
    text, meta = row.pop("text"), _object(row.pop("meta"))
    return RecordPage(
        dataset=place.entry.id,
        id=id,
        text=text,
        columns={k: v for k, v in row.items() if v is not None},
        meta=meta,
        set_aside=aside,
        tables=side_rows(place, id),
        near=near,
        near_note=note,
        findings=pointers(workspace, place, id),
        lineage=[s.model_dump() for s in place.manifest.lineage] if place.manifest else [],
        warning=changed(place),
    )


def find(place: Place, id: str) -> tuple[JsonObject, dict[str, str] | None]:
    """The record, and the table it was moved to if it is no longer among the records."""
    for name in ("records", *ASIDE):
        file = place.folder / RECORDS if name == "records" else parquet(place, name)
        if file is None:
            continue
        rows = (
            as_text(pl.scan_parquet(file).filter(pl.col("id") == id)).head(1).collect().to_dicts()
        )
        if rows and name == "records":
            return rows[0], None
        if rows:
            row = rows[0]
            aside = {
                "table": name,
                "step": row.pop("step") or "",
                "reason": row.pop("reason") or "",
            }
            return row, aside
    raise NotFound(
        f"'{place.entry.name}' has no record '{excerpt(id, 100)}'.", "Search for it in the dataset."
    )


def side_rows(place: Place, id: str) -> dict[str, list[JsonObject]]:
    """The rows of each side table for the record, without nulls; a limited number of each."""
    out = {}
    for name in place.manifest.files if place.manifest else ():
        if name == RECORDS or "/" in name or not name.endswith(".parquet"):
            continue
        scan = pl.scan_parquet(place.folder / name)
        if "record_id" in scan.collect_schema():
            rows = (
                as_text(scan.filter(pl.col("record_id") == id)).head(MOST_ROWS).collect().to_dicts()
            )
            if rows:
                out[name.removesuffix(".parquet")] = [
                    {k: v for k, v in row.items() if v is not None and k != "record_id"}
                    for row in rows
                ]
    return out


def near_duplicates(place: Place, id: str) -> tuple[list[Near], str]:
    """The other records of its cluster, or why they were not looked for."""
    file = place.folder / RECORDS
    total = int(place.manifest.counts.get("records", 0)) if place.manifest else 0
    if total > MOST_TEXTS:
        return (
            [],
            f"Not searched for among more than {MOST_TEXTS:,} texts: `claimlab audit` does it.",
        )
    labels = _clusters.get(digest_of(file), lambda: _labels(place))
    ids = (
        pl.scan_parquet(file, row_index_name="row")
        .filter(pl.col("id") == id)
        .select("row")
        .collect()
    )
    cluster = labels[ids["row"][0]]
    if cluster < 0:
        return [], ""
    rows: Numbers = np.flatnonzero(labels == cluster).astype(np.uint32)
    shown = take(file, COLUMNS, rows[: MOST_ROWS + 1]).filter(pl.col("id") != id)
    near = [
        Near(
            id=r["id"],
            text=excerpt(r["text"] or "", 400),
            label=r["veracity"],
            split=r["split"],
            link=record_link(place.entry.id, r["id"]),
        )
        for r in shown.iter_rows(named=True)
    ]
    return near, f"{len(rows) - 1 - len(near):,} more." if len(rows) - 1 > len(near) else ""


def _labels(place: Place) -> np.ndarray[Any, np.dtype[np.int64]]:
    from claimlab.text.neardup import find_clusters

    return find_clusters(pl.read_parquet(place.folder / RECORDS, columns=["text"])["text"]).labels


def pointers(workspace: Workspace, place: Place, id: str) -> list[Pointer]:
    """The findings of audits of exactly these records that name the record."""
    from claimlab.audit.views.wording import finding_title

    out = []
    for other in workspace.places().values():
        if other.entry.kind != "audit":
            continue
        for number, (audit, finding) in enumerate(findings_in(other)):
            if audit.digest == place.digest and any(id in f.records for f in finding.every):
                link = f"/audits/{other.entry.id}/findings/{number}"
                title = finding_title(finding)
                out.append(
                    Pointer(audit=other.entry.name, title=title, verdict=finding.verdict, link=link)
                )
    return out


def _object(text: str | None) -> JsonObject:
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {"meta": text}
    return value if isinstance(value, dict) else {"meta": value}
