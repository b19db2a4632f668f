"""Dataset pages: records to search, filter, sort and page through; what there is of each label,
split and month. A map of the texts is a page of its own, because they have to be read by a model
for it; so is the search for fact-checks that a claim already has.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Annotated

import numpy as np
import polars as pl
from fastapi import Query
from markupsafe import Markup, escape
from pydantic import Field

from claimlab.audit.advice import points_of
from claimlab.audit.result import Audit
from claimlab.audit.views.wording import finding_title
from claimlab.core.dataset import RECORDS
from claimlab.core.errors import DataError
from claimlab.core.plain import plain
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import excerpt
from claimlab.pages.charts import map_figure
from claimlab.split.strategy import SIDES
from claimlab.web.cleanings import Cleaning, cleanings_of
from claimlab.web.filters import FACETS, Facet, RecordFilters, Turning, facet, turning
from claimlab.web.images import Image, images_of
from claimlab.web.page import Data, Here, page
from claimlab.web.rows import Months, chosen_rows
from claimlab.web.workspace import (
    FolderEntry,
    Line,
    Memo,
    Named,
    Place,
    Shape,
    Workspace,
    audits_of,
    digest_of,
    digests_of,
    findings_in,
    record_link,
)

MOST_WORDS = 200  # that are marked
BARS = 60
WORST = 3  # findings that a line about an audit names


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


class Bar(Shape):
    name: str
    count: int
    link: str


class LineageStep(Shape):
    """A step of the lineage: what came in and went out, and the dataset that it made."""

    step: str
    records: int | None
    lost: int | None
    link: str | None


class AuditLine(Shape):
    """An audit, what it comes to, and how many of its findings have each verdict."""

    name: str
    link: str
    of: str
    """The dataset that was audited."""
    apart: str
    """Its folder and protocol, where others are of a dataset of this name."""
    usable: str
    verdicts: dict[str, int]
    worst: dict[str, str]
    """The findings that can move a score most, with their pages."""


class DatasetPage(Named):
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


class CountsPage(Named):
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


def counted(workspace: Workspace, page: DatasetPage) -> CountsPage | None:
    """The counts where they are known: a page does not wait for them."""
    place = workspace.get(page.id)
    rows, _ = chosen_rows(workspace, place, page.filters)
    return counts_page(place, page.filters, workspace) if rows.counted else None


def marked(text: str, hits: str, words: Mapping[str, str]) -> Markup:
    """The text as HTML: what was searched for is marked, and words with the class they lean to."""
    parts = [re.escape(hit) for hit in sorted(hits.split(), key=len, reverse=True)]
    if words:
        parts.append(rf"\b(?:{'|'.join(map(re.escape, words))})\b")
    if not parts:
        return escape(plain(text))
    pieces = re.split(f"({'|'.join(parts)})", plain(text), flags=re.IGNORECASE)
    for at in range(1, len(pieces), 2):
        lean = words.get(pieces[at].lower())
        leaning = lean and Markup(' class="leans-{0}" title="{0}"').format(lean)
        pieces[at] = Markup("<mark{}>{}</mark>").format(leaning or "", pieces[at])
    return Markup("").join(pieces)


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
        audits=[audit_line(*one, audits) for one in audits],
        words=telling_words(workspace, place),
        words_link=filters.link(base, mark=not filters.mark, page=filters.page),
    )


def stages_of(workspace: Workspace, place: Place) -> list[LineageStep]:
    """Every step with the records that it left. What it began with is what the one before left."""
    lineage = place.manifest.lineage
    if not lineage:
        return []
    begun = [step.counts.get("in", step.counts.get("before")) for step in lineage]
    left = [*begun[1:], place.entry.records]
    parents = [[workspace.with_digest(one) for one in step.inputs.values()] for step in lineage[1:]]
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


def telling_words(workspace: Workspace, place: Place) -> dict[str, str]:
    """The words that the audits of these records name, each with the class that it leans to."""
    words: dict[str, str] = {}
    for _, audit in audits_of(workspace, digests_of(place)):
        for row in [row for one in audit.findings for row in one.details.get("words") or ()]:
            if isinstance(row, dict) and row.get("leans") and len(words) < MOST_WORDS:
                words.setdefault(str(row.get("word")).lower(), str(row["leans"]))
    return words


def audit_line(place: Place, audit: Audit, among: Iterable[tuple[Place, Audit]]) -> AuditLine:
    entry, same = place.entry, [one for _, one in among if one.dataset == audit.dataset]
    failing = [
        (-points_of(finding), number, finding)
        for number, (of, finding) in enumerate(findings_in(place))
        if of is audit and finding.verdict == "fail"
    ]
    return AuditLine(
        name=entry.name,
        link=entry.link,
        of=audit.dataset,
        apart=f"{entry.name}, protocol {audit.protocol}" if len(same) > 1 else "",
        usable=audit.conclusion.usable,
        verdicts={verdict: n for verdict, n in audit.counts().items() if n},
        worst={
            finding_title(finding): f"{entry.link}/findings/{number}"
            for _, number, finding in sorted(failing, key=lambda one: one[:2])[:WORST]
        },
    )


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


def changed(place: Place) -> str | None:
    """A sentence where the records are not those that claimlab wrote."""
    if digest_of(place.folder / RECORDS) == place.digest:
        return None
    return (
        f"{RECORDS} was changed after claimlab wrote it: what is shown is not what the lineage"
        " says."
    )


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


def _bars(months: Months, filters: RecordFilters, base: str) -> list[Bar]:
    """Months, or years where there are too many of them, without gaps; each leads to its
    records.
    """
    if not months:
        return []
    places = {m.year * 12 + m.month - 1: n for m, n in months}
    first, last = min(places), max(places)
    width = 1 if last - first < BARS else 12
    start = first - first % width
    bars = []
    for at in range(start, last + 1, width)[-200:]:
        since = date(at // 12, at % 12 + 1, 1)
        month = since.month + width - 1
        until = since.replace(month=month, day=monthrange(since.year, month)[1])
        link = filters.link(base, since=since, until=until)
        count = sum(places.get(one, 0) for one in range(at, at + width))
        name = since.isoformat()[: 4 if width > 1 else 7]
        bars.append(Bar(name=name, count=count, link=link))
    return bars


MOST_DOTS = 400  # texts, drawn at random where there are more: a few seconds
_maps = Memo(16)


class Dot(Shape):
    id: str
    label: str | None
    x: float
    y: float
    link: str


class MapPage(Named):
    """Where texts are on the map; `missing` of those drawn have no text that the encoder can
    read.
    """

    records: int
    sampled: int
    missing: int
    method: str
    dots: list[Dot]
    caption: str
    alt: str
    svg: str


@page("/datasets/{place}/map", "map.html.jinja")
def map_page(place: Data) -> MapPage:
    """Texts of a dataset by meaning."""
    return _maps.get((place.entry.id, digest_of(place.folder / RECORDS)), lambda: _map(place))


def _map(place: Place) -> MapPage:
    from claimlab.text.vectors import FEWEST, text_map

    table = pl.read_parquet(place.folder / RECORDS, columns=["id", "text", "language", "veracity"])
    drawn = np.sort(np.random.default_rng(0).permutation(table.height)[:MOST_DOTS])
    rows = table[drawn.tolist()]
    placed = text_map(rows["text"], rows["language"])
    shown = rows[placed.rows.tolist()]
    if shown.height < FEWEST:
        todo = "Only texts in the 16 languages of the encoder can be placed."
        raise DataError(f"'{place.entry.name}' has too few texts for a map.", todo)
    ids, labels, points = shown["id"].to_list(), shown["veracity"].to_list(), placed.points.tolist()
    figure = map_figure(points, labels, ids, method=placed.method)
    dots = [
        Dot(id=id, label=label, x=x, y=y, link=record_link(place.entry.id, id))
        for id, label, (x, y) in zip(ids, labels, points, strict=True)
    ]
    return MapPage(
        **place.named,
        records=table.height,
        sampled=rows.height,
        missing=rows.height - shown.height,
        method=placed.method,
        dots=dots,
        caption=figure.caption,
        alt=figure.alt,
        svg=figure.svg,
    )


class Question(Shape):
    text: Annotated[str, Field(max_length=2000)] = ""
    """The claim to look up."""
    archive: Line = ""
    """A dataset to look in."""
    meaning: bool = False
    """By meaning too, which takes a while at first."""


class MatchPage(Shape):
    question: Question
    archives: list[FolderEntry]
    conclusion: str
    matches: list[JsonObject]
    """The best first, each with its record."""


def _likeliest(place: Place) -> tuple[float, int]:
    """Fact-checks link what they checked; of several archives, the largest has most of them."""
    records = place.entry.records or 0
    return -int(place.manifest.counts.get("evidence") or 0) / (records or 1), -records


@page("/match", "match.html.jinja")
def match_page(question: Annotated[Question, Query()], workspace: Here) -> MatchPage:
    """The fact-checks that a claim already has."""
    from claimlab.claims.match import match

    places = [place for place in workspace.of("dataset") if place.entry.study is None]
    archives = [place.entry for place in sorted(places, key=_likeliest)]
    if not question.archive and archives:
        question = question.model_copy(update={"archive": archives[0].id})
    if not question.text.strip() or not archives:
        return MatchPage(question=question, archives=archives, conclusion="", matches=[])
    place = workspace.get(question.archive, "dataset")
    result = match(text=question.text, archive=place.folder, words=not question.meaning)
    known = ("id", "score", "meaning", "text", "title", "verdict", "publisher", "date", "url")
    rows = result.rows.select(known).to_dicts()
    return MatchPage(
        question=question,
        archives=archives,
        conclusion=result.conclusion(),
        matches=[row | {"link": record_link(place.entry.id, row["id"])} for row in rows],
    )
