"""Dataset pages: records to search, filter, sort and page through; what there is of each label,
split and month. A map of the
texts is a page of its own, because they have to be read by a model for it.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import numpy as np
import polars as pl
from fastapi import Query
from pydantic import BaseModel, Field

from claimlab.audit.views.wording import finding_title
from claimlab.core.dataset import RECORDS
from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject
from claimlab.pages.charts import map_figure
from claimlab.pages.excerpt import excerpt
from claimlab.web.filters import (
    FACETS,
    SORTABLE,
    Facet,
    RecordFilters,
    Turning,
    check_sort,
    facet,
    turning,
)
from claimlab.web.page import Pages
from claimlab.web.rows import Rows
from claimlab.web.workspace import Kind, Memo, Place, Workspace, digest_of, finding_at

ALL: tuple[Kind, ...] = ("dataset", "run", "traces")  # each is a dataset
BARS = 60


class Row(BaseModel):
    id: str
    text: str
    label: str | None
    split: str | None
    language: str | None
    date: str | None
    source: str | None
    topic: str | None
    link: str


class Bar(BaseModel):
    name: str
    count: int
    link: str


class DatasetPage(BaseModel):
    """A page of the records that pass the filters."""

    id: str
    name: str
    kind: str
    licence: str | None
    synthetic: bool
    notes: list[str]
    records: int
    filters: RecordFilters
    filter_pairs: list[tuple[str, str]]
    filter_title: str
    sort_links: dict[str, str]
    turning: Turning
    rows: list[Row]
    counts_link: str = Field(description="What there is among the records that pass the filters.")
    tables: dict[str, int]
    lineage: list[JsonObject]


class CountsPage(BaseModel):
    """What there is among the records that pass the filters. A page of its own: all of them have to
    be read for it.
    """

    id: str
    name: str
    filters: RecordFilters
    total: int
    warning: str | None
    facets: list[Facet]
    splits: list[str]
    label_by_split: dict[str, list[int]]
    months: list[Bar]


def add_datasets(pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add(
        "/datasets/{dataset}",
        "dataset.html.jinja",
        title="Records of a dataset, searched and filtered",
    )
    def dataset(dataset: str, filters: Annotated[RecordFilters, Query()]) -> DatasetPage:
        return dataset_page(workspace, workspace.get(dataset, *ALL), filters)

    @pages.add(
        "/datasets/{dataset}/counts",
        "counts.html.jinja",
        title="Labels, splits, dates and values of records",
    )
    def counts(dataset: str, filters: Annotated[RecordFilters, Query()]) -> CountsPage:
        return counts_page(workspace, workspace.get(dataset, *ALL), filters)

    def counted(page: DatasetPage) -> CountsPage | None:
        """The counts where they are known: a page does not wait for them."""
        place = workspace.get(page.id, *ALL)
        rows, _ = chosen_rows(workspace, place, page.filters)
        return counts_page(workspace, place, page.filters) if rows.counted else None

    pages.helpers["counted"] = counted


def dataset_page(workspace: Workspace, place: Place, filters: RecordFilters) -> DatasetPage:
    check_sort(filters.sort, SORTABLE)
    if place.manifest is None:
        raise DataError(place.entry.note, "Make the dataset again.")
    manifest, base = place.manifest, f"/datasets/{place.entry.id}"
    rows, title = chosen_rows(workspace, place, filters)
    table, number, total = rows.page(filters.page, filters.size)
    return DatasetPage(
        id=place.entry.id,
        name=place.entry.name,
        kind=place.entry.kind,
        licence=manifest.licence,
        synthetic=manifest.synthetic,
        notes=manifest.notes,
        records=int(manifest.counts.get("records", 0)),
        filters=filters,
        filter_pairs=filters.pairs(),
        filter_title=title,
        sort_links={c: filters.link(base, sort=_next_sort(filters.sort, c)) for c in SORTABLE},
        turning=turning(filters, base, total, number),
        rows=[_row(base, r) for r in table.iter_rows(named=True)],
        counts_link=filters.link(f"{base}/counts", page=1),
        tables={n: c for n, c in manifest.counts.items() if isinstance(c, int) and n != "records"},
        lineage=[step.model_dump() for step in manifest.lineage],
    )


def counts_page(workspace: Workspace, place: Place, filters: RecordFilters) -> CountsPage:
    if place.manifest is None:
        raise DataError(place.entry.note, "Make the dataset again.")
    base = f"/datasets/{place.entry.id}"
    rows, _ = chosen_rows(workspace, place, filters.model_copy(update={"sort": ""}))
    counts = rows.counts(tuple(FACETS))
    crossed = rows.crossed("veracity", "split")
    splits = sorted({split for _, split in crossed}, key=lambda s: (s is None, s or ""))
    labels = sorted({label for label, _ in crossed}, key=lambda v: (v is None, v or ""))
    return CountsPage(
        id=place.entry.id,
        name=place.entry.name,
        filters=filters,
        total=sum(crossed.values()),
        warning=changed(place),
        facets=[
            facet(filters, base, c, t, counts[c])
            for c, t in FACETS.items()
            if _tells(counts[c], filters, c)
        ],
        splits=[s or "no split" for s in splits],
        label_by_split={
            label or "no label": [crossed.get((label, s), 0) for s in splits] for label in labels
        },
        months=_bars(rows.months(), filters, base),
    )


def chosen_rows(workspace: Workspace, place: Place, filters: RecordFilters) -> tuple[Rows, str]:
    """The rows that the filters choose, and a title where they are those of a finding."""
    if not filters.audit or filters.finding is None:
        return Rows.of(place.folder / RECORDS, filters), ""
    _, finding = finding_at(workspace.get(filters.audit, "audit"), filters.finding)
    return Rows.of(place.folder / RECORDS, filters, finding.records), finding_title(finding)


def changed(place: Place) -> str | None:
    """A sentence where the records are not those that claimlab wrote."""
    if digest_of(place.folder / RECORDS) == place.digest:
        return None
    return (
        f"{RECORDS} was changed after claimlab wrote it: what is shown is not what the lineage"
        " says."
    )


def record_link(dataset: str, record: str) -> str:
    return f"/datasets/{dataset}/record?{urlencode({'id': record})}"


def _row(base: str, row: JsonObject) -> Row:
    link = f"{base}/record?{urlencode({'id': row['id']})}"
    more = {name: row[name] for name in ("split", "language", "date", "source", "topic")}
    return Row(
        id=row["id"], text=excerpt(row["text"] or "", 400), label=row["veracity"], link=link, **more
    )


def _tells(counts: list[tuple[str | None, int]], filters: RecordFilters, column: str) -> bool:
    """Whether a facet is worth showing: it has values, or one of them was chosen."""
    return any(value is not None for value, _ in counts) or bool(getattr(filters, column))


def _next_sort(current: str, column: str) -> str:
    return {column: f"-{column}", f"-{column}": ""}.get(current, column)


def _bars(months: list[tuple[datetime, int]], filters: RecordFilters, base: str) -> list[Bar]:
    """Months, or years where there are too many of them, without gaps; each leads to its
    records.
    """
    if not months:
        return []
    places = {m.year * 12 + m.month - 1: n for m, n in months}
    first, last = min(places), max(places)
    width = 1 if last - first < BARS else 12
    start = first - first % width
    tally = [
        sum(places.get(m, 0) for m in range(at, at + width)) for at in range(start, last + 1, width)
    ]
    names = [
        f"{at // 12:04}" if width > 1 else f"{at // 12:04}-{at % 12 + 1:02}"
        for at in range(start, last + 1, width)
    ]
    shown = list(zip(names, tally, strict=True))[-200:]
    return [Bar(name=name, count=n, link=filters.link(base, **_span(name))) for name, n in shown]


def _span(name: str) -> dict[str, date]:
    """The first and the last day of a year or a month."""
    if "-" not in name:
        return {"since": date(int(name), 1, 1), "until": date(int(name), 12, 31)}
    year, month = map(int, name.split("-"))
    first = date(year, month, 1)
    after = (
        date(year + month // 12, month % 12 + 1, 1)
        if (year, month) < (9999, 12)
        else date(9999, 12, 31)
    )
    return {"since": first, "until": after - timedelta(days=1) if after.day == 1 else after}


def parquet(place: Place, table: str) -> Path | None:
    """The file of a side table, where the dataset lists one."""
    name = f"{table}.parquet"
    return place.folder / name if place.manifest and name in place.manifest.files else None


MOST_DOTS = 400  # texts, drawn at random where there are more: a few seconds
_maps = Memo(16)


class Dot(BaseModel):
    id: str
    label: str | None
    x: float
    y: float
    link: str


class MapPage(BaseModel):
    """Where texts are on the map; `missing` of those drawn have no text that the encoder can
    read.
    """

    id: str
    name: str
    records: int
    sampled: int
    missing: int
    method: str
    dots: list[Dot]
    caption: str
    alt: str
    svg: str


def add_maps(pages: Pages) -> None:
    @pages.add("/datasets/{dataset}/map", "map.html.jinja", title="Texts of a dataset by meaning")
    def text_map_page(dataset: str) -> MapPage:
        place = pages.workspace.get(dataset, *ALL)
        if place.manifest is None:
            raise DataError(place.entry.note, "Make the dataset again.")
        return _maps.get(
            (place.entry.id, digest_of(place.folder / RECORDS)), lambda: map_page(place)
        )


def map_page(place: Place) -> MapPage:
    from claimlab.text.vectors import FEWEST, text_map

    table = pl.read_parquet(place.folder / RECORDS, columns=["id", "text", "language", "veracity"])
    drawn = np.sort(np.random.default_rng(0).permutation(table.height)[:MOST_DOTS])
    rows = table[drawn.tolist()]
    placed = text_map(rows["text"], rows["language"])
    shown = rows[placed.rows.tolist()]
    if shown.height < FEWEST:
        todo = "Only texts in the 16 languages of the encoder can be placed."
        raise DataError(f"'{place.entry.name}' has too few texts for a map.", todo)
    figure = map_figure(
        placed.points.tolist(),
        shown["veracity"].to_list(),
        shown["id"].to_list(),
        method=placed.method,
    )
    dots = [
        Dot(id=id, label=label, x=x, y=y, link=record_link(place.entry.id, id))
        for (id, label), (x, y) in zip(
            shown.select("id", "veracity").iter_rows(), placed.points.tolist(), strict=True
        )
    ]
    return MapPage(
        id=place.entry.id,
        name=place.entry.name,
        records=table.height,
        sampled=rows.height,
        missing=rows.height - shown.height,
        method=placed.method,
        dots=dots,
        caption=figure.caption,
        alt=figure.alt,
        svg=figure.svg,
    )
