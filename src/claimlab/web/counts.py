"""What there is of each label, split and month among the records that pass the filters: a page of
its own, because all of them have to be read.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from typing import Annotated

from fastapi import Query

from claimlab.core.dataset import RECORDS
from claimlab.split.strategy import SIDES
from claimlab.web.filters import FACETS, Facet, RecordFilters, facet
from claimlab.web.memo import digest_of
from claimlab.web.page import Data, Here, page
from claimlab.web.rows import Months, chosen_rows
from claimlab.web.workspace import FolderName, Shape, WorkspaceFolder

MOST_BARS = 60


class Bar(Shape):
    name: str
    count: int
    link: str


class CountsPage(FolderName):
    """What there is among the records that pass the filters. A page of its own: all of them have to
    be read for it.
    """

    filters: RecordFilters
    total: int
    warning: str | None
    facets: list[Facet]
    splits: list[str]
    label_by_split: dict[str, list[int]]
    months: list[Bar]
    lengths: list[Bar]
    """Texts by their characters; empty where there are too many texts to count."""


@page("/datasets/{place}/counts", "counts.html.jinja")
def counts_page(
    place: Data, filters: Annotated[RecordFilters, Query()], workspace: Here
) -> CountsPage:
    """Labels, splits, dates and values of records."""
    base = f"/datasets/{place.entry.id}"
    rows, _ = chosen_rows(workspace, place, filters.model_copy(update={"sort": ""}))
    counts = rows.counts(tuple(FACETS))
    crossed = rows.crossed("veracity", "split")
    splits = sorted({split for _, split in crossed}, key=_in_order)
    labels = sorted({label for label, _ in crossed}, key=_null_last)
    return CountsPage(
        **place.named,
        filters=filters,
        total=sum(crossed.values()),
        warning=changed(place),
        facets=[
            facet(filters, base, c, t, counts[c])
            for c, t in FACETS.items()
            if getattr(filters, c) or any(value is not None for value, _ in counts[c])
        ],
        splits=[s or "no split" for s in splits],
        label_by_split={
            label or "no label": [crossed.get((label, s), 0) for s in splits] for label in labels
        },
        months=_bars(rows.months(), filters, base),
        lengths=[
            Bar(
                name=f"{least:,} to {most - 1:,} characters",
                count=count,
                link=filters.link(base, longest=most - 1, shortest=least),
            )
            for least, most, count in rows.lengths()
        ],
    )


def _null_last(value: str | None) -> tuple[bool, str]:
    return value is None, value or ""


def _in_order(split: str | None) -> tuple[bool, int, str]:
    """As they are used: the usual splits first."""
    place = [*SIDES, split].index(split)
    return split is None, place, split or ""


def changed(place: WorkspaceFolder) -> str | None:
    """A sentence where the records are not those that claimlab wrote."""
    if digest_of(place.folder / RECORDS) == place.digest:
        return None
    return (
        f"{RECORDS} was changed after claimlab wrote it: what is shown is not what the lineage"
        " says."
    )


def _bars(months: Months, filters: RecordFilters, base: str) -> list[Bar]:
    """Months, or years where there are too many of them, without gaps; each leads to its
    records.
    """
    if not months:
        return []
    places = {m.year * 12 + m.month - 1: n for m, n in months}
    first, last = min(places), max(places)
    width = 1 if last - first < MOST_BARS else 12
    start = first - first % width
    bars = []
    for at in range(start, last + 1, width)[-200:]:
        since = date(at // 12, at % 12 + 1, 1)
        month = since.month + width - 1
        until = since.replace(month=month, day=monthrange(since.year, month)[1])
        link = filters.link(base, since=since, until=until)
        count = sum(places.get(month_number, 0) for month_number in range(at, at + width))
        name = since.isoformat()[: 4 if width > 1 else 7]
        bars.append(Bar(name=name, count=count, link=link))
    return bars
