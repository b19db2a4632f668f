"""Audit pages: the findings, the most severe first, filterable, and a page for each with its
figures and records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

import polars as pl
from fastapi import Query
from pydantic import BaseModel, Field

from claimlab.audit.result import Example
from claimlab.audit.views import pictures
from claimlab.audit.views.page import Detail, finding_blocks
from claimlab.audit.views.tables import Rows
from claimlab.audit.views.wording import (
    conclusion_blocks,
    explanation,
    finding_title,
    headline,
    in_a_line,
)
from claimlab.core.dataset import RECORDS
from claimlab.core.errors import NotFound
from claimlab.core.finding import VERDICTS, Finding, Verdict
from claimlab.core.types import JsonObject
from claimlab.pages.excerpt import excerpt
from claimlab.web.datasets import record_link
from claimlab.web.filters import Facet, Filters, Values, facet
from claimlab.web.page import Pages
from claimlab.web.saved import audits_in, findings_in
from claimlab.web.workspace import Place, Workspace

LISTED = 50  # records on the page of a finding


class FindingFilters(Filters):
    verdict: Values = []
    check: Values = []
    dataset: Values = []


class FindingRow(BaseModel):
    """A finding in the list of an audit."""

    number: int
    dataset: str
    check: str
    title: str
    verdict: Verdict
    why: str
    score: float | None
    p_adjusted: float | None
    n: int
    records: int
    link: str


class AuditPage(BaseModel):
    id: str
    name: str
    headlines: list[str]
    conclusions: list[str]
    advice: list[str] = Field(description="What to do about the findings, from written rules.")
    filters: FindingFilters
    filter_pairs: list[tuple[str, str]]
    facets: list[Facet]
    findings: list[FindingRow]
    datasets: dict[str, str | None] = Field(
        description="Datasets that were audited, with links where they are here."
    )


class FindingPage(BaseModel):
    audit: str
    number: int
    dataset: str
    title: str
    verdict: Verdict
    finding: JsonObject
    dataset_link: str | None
    records_link: str | None
    review_link: str | None
    records: list[dict[str, str | None]] = Field(
        description="The first records that the finding points at."
    )
    records_in_all: int = Field(description="How many records the finding points at.")
    records_kept: int = Field(
        description="How many of them the audit keeps: these can be listed and reviewed."
    )


def add_audits(pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add("/audits/{audit}", "audit.html.jinja", title="The findings of an audit")
    def audit(audit: str, filters: Annotated[FindingFilters, Query()]) -> AuditPage:
        return audit_page(workspace, workspace.get(audit, "audit"), filters)

    @pages.add(
        "/audits/{audit}/findings/{number}",
        "finding.html.jinja",
        title="One finding with its records",
    )
    def finding(audit: str, number: Annotated[int, Field(ge=0, le=100_000)]) -> FindingPage:
        return finding_page(workspace, workspace.get(audit, "audit"), number)

    pages.helpers["finding_blocks"] = lambda data: blocks_of(workspace, data)


def audit_page(workspace: Workspace, place: Place, filters: FindingFilters) -> AuditPage:
    base = f"/audits/{place.entry.id}"
    audits = audits_in(place)
    every = [
        _finding_row(base, i, audit.dataset, f) for i, (audit, f) in enumerate(findings_in(place))
    ]
    words = filters.q.lower().split()
    shown = [
        f
        for f in every
        if (not filters.verdict or f.verdict in filters.verdict)
        and (not filters.check or f.check in filters.check)
        and (not filters.dataset or f.dataset in filters.dataset)
        and all(w in f"{f.title} {f.why} {f.dataset}".lower() for w in words)
    ]
    shown.sort(key=lambda f: (VERDICTS.index(f.verdict), f.dataset, f.title))
    titles = [("verdict", "Verdict"), ("check", "Check"), ("dataset", "Dataset")]
    tallies = {name: _tally([getattr(f, name) for f in every]) for name, _ in titles}
    known = {a.dataset: workspace.with_digest(a.digest) for a in audits}
    return AuditPage(
        id=place.entry.id,
        name=place.entry.name,
        headlines=[f"{a.dataset}: {headline(a)}" for a in audits],
        conclusions=[
            getattr(block, "text", "") for a in audits for block in conclusion_blocks(a)[:1]
        ],
        advice=[in_a_line(advice) for a in audits for advice in a.conclusion.advice],
        filters=filters,
        filter_pairs=filters.pairs(),
        findings=shown,
        facets=[facet(filters, base, n, t, tallies[n]) for n, t in titles if len(tallies[n]) > 1],
        datasets={
            name: None if at is None else f"/datasets/{at.entry.id}" for name, at in known.items()
        },
    )


def finding_page(workspace: Workspace, place: Place, number: int) -> FindingPage:
    findings = findings_in(place)
    if number >= len(findings):
        raise NotFound(
            f"The audit '{place.entry.name}' has no finding {number}.", "Choose one from its list."
        )
    audit, finding = findings[number]
    data = workspace.with_digest(audit.digest)
    chosen = urlencode({"audit": place.entry.id, "finding": number})
    with_rows = data is not None and bool(finding.records)
    return FindingPage(
        audit=place.entry.id,
        number=number,
        dataset=audit.dataset,
        title=finding_title(finding),
        verdict=finding.verdict,
        finding=finding.model_dump(mode="json"),
        dataset_link=None if data is None else f"/datasets/{data.entry.id}",
        records_link=(
            f"/datasets/{data.entry.id}?{chosen}" if data is not None and with_rows else None
        ),
        review_link=(
            f"/new-review?dataset={data.entry.id}&{chosen}"
            if data is not None and with_rows
            else None
        ),
        records=_records(finding, data, {e.id: e for e in audit.examples}),
        records_in_all=finding.pointed_at,
        records_kept=len(finding.records),
    )


def _records(
    finding: Finding, data: Place | None, examples: Mapping[str, Example]
) -> list[dict[str, str | None]]:
    """The first records of a finding with their texts: from the dataset, or as the audit keeps a
    few of them.
    """
    ids = finding.records[:LISTED]
    texts = {id: (example.text, example.label) for id, example in examples.items()}
    if data is not None:
        scan = pl.scan_parquet(data.folder / RECORDS).filter(pl.col("id").is_in(ids))
        rows = scan.select("id", "text", "veracity").collect().iter_rows()
        texts |= {id: (excerpt(text or "", 300), label) for id, text, label in rows}
    return [
        {
            "id": id,
            "text": texts.get(id, (None, None))[0],
            "label": texts.get(id, (None, None))[1],
            "link": None if data is None else record_link(data.entry.id, id),
        }
        for id in ids
    ]


def blocks_of(workspace: Workspace, page: FindingPage) -> list[Any]:
    """What the report of the audit shows of the finding, with words and records that lead into the
    dataset.
    """
    place = workspace.get(page.audit, "audit")
    audit, finding = findings_in(place)[page.number]
    base = page.dataset_link
    word = None if base is None else (lambda text: f"{base}?{urlencode({'word': text})}")
    figures = pictures.of_finding(finding, f"finding-{page.number}", link=word)
    known = set(finding.records)
    links = {id: record_link(base.removeprefix("/datasets/"), id) for id in known} if base else {}
    rows = Rows(links, {e.id: e for e in audit.examples})
    return [
        *finding_blocks(finding, figures, rows, Detail()),
        *explanation(finding.check, finding.protocol),
    ]


def _finding_row(base: str, number: int, dataset: str, f: Any) -> FindingRow:
    return FindingRow(
        number=number,
        dataset=dataset,
        check=f.check,
        title=finding_title(f),
        verdict=f.verdict,
        why=f.why,
        score=f.score,
        p_adjusted=f.p_adjusted,
        n=f.n,
        records=f.pointed_at,
        link=f"{base}/findings/{number}",
    )


def _tally(values: list[str]) -> list[tuple[str | None, int | None]]:
    return [(v, values.count(v)) for v in sorted(set(values), key=lambda v: (-values.count(v), v))]
