"""Audit pages: the findings, the most severe first, filterable, and a page for each with its
figures and records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
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
from claimlab.core.finding import VERDICTS, Finding, Verdict
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Block
from claimlab.pages.excerpt import excerpt
from claimlab.web.datasets import record_link
from claimlab.web.filters import Facet, Filters, Values, facet
from claimlab.web.page import Pages
from claimlab.web.workspace import Place, Workspace, audits_in, finding_at, findings_in

LISTED = 50  # records on the page of a finding


CHOSEN = ("verdict", "check", "dataset")  # what findings are filtered by


class FindingFilters(Filters):
    verdict: Values = []
    check: Values = []
    dataset: Values = []

    def passes(self, finding: FindingRow) -> bool:
        """Whether a finding has a chosen value of each kind, and all the words."""
        chosen = ((getattr(self, name), getattr(finding, name)) for name in CHOSEN)
        if any(values and value not in values for values, value in chosen):
            return False
        text = f"{finding.title} {finding.why} {finding.dataset}".lower()
        return all(word in text for word in self.q.lower().split())


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
        _finding_row(base, number, audit.dataset, finding)
        for number, (audit, finding) in enumerate(findings_in(place))
    ]
    shown = sorted(
        filter(filters.passes, every),
        key=lambda f: (VERDICTS.index(f.verdict), f.dataset, f.title),
    )
    tallies = {name: _tally([getattr(f, name) for f in every]) for name in CHOSEN}
    known = {audit.dataset: workspace.with_digest(audit.digest) for audit in audits}
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
        facets=[
            facet(filters, base, name, name.capitalize(), tally)
            for name, tally in tallies.items()
            if len(tally) > 1
        ],
        datasets={name: _link("/datasets/{}", at) for name, at in known.items()},
    )


def finding_page(workspace: Workspace, place: Place, number: int) -> FindingPage:
    audit, finding = finding_at(place, number)
    data = workspace.with_digest(audit.digest)
    chosen = urlencode({"audit": place.entry.id, "finding": number})
    with_rows = data if finding.records else None
    return FindingPage(
        audit=place.entry.id,
        number=number,
        dataset=audit.dataset,
        title=finding_title(finding),
        verdict=finding.verdict,
        finding=finding.model_dump(mode="json"),
        dataset_link=_link("/datasets/{}", data),
        records_link=_link(f"/datasets/{{}}?{chosen}", with_rows),
        review_link=_link(f"/new-review?dataset={{}}&{chosen}", with_rows),
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
    out = []
    for id in ids:
        text, label = texts.get(id, (None, None))
        link = None if data is None else record_link(data.entry.id, id)
        out.append({"id": id, "text": text, "label": label, "link": link})
    return out


def blocks_of(workspace: Workspace, page: FindingPage) -> list[Block]:
    """What the report of the audit shows of the finding, with words and records that lead into the
    dataset.
    """
    audit, finding = finding_at(workspace.get(page.audit, "audit"), page.number)
    base = page.dataset_link
    word = None if base is None else (lambda text: f"{base}?{urlencode({'word': text})}")
    figures = pictures.of_finding(finding, f"finding-{page.number}", link=word)
    links = {}
    if base is not None:
        dataset = base.removeprefix("/datasets/")
        links = {id: record_link(dataset, id) for id in finding.records}
    rows = Rows(links, {e.id: e for e in audit.examples})
    return [
        *finding_blocks(finding, figures, rows, Detail()),
        *explanation(finding.check, finding.protocol),
    ]


def _link(address: str, dataset: Place | None) -> str | None:
    """The address with the id of the dataset in it, where the dataset is here."""
    return None if dataset is None else address.format(dataset.entry.id)


def _finding_row(base: str, number: int, dataset: str, finding: Finding) -> FindingRow:
    same = ("check", "verdict", "why", "score", "p_adjusted", "n")
    return FindingRow(
        number=number,
        dataset=dataset,
        title=finding_title(finding),
        records=finding.pointed_at,
        link=f"{base}/findings/{number}",
        **{name: getattr(finding, name) for name in same},
    )


def _tally(values: list[str]) -> list[tuple[str | None, int | None]]:
    return [(v, values.count(v)) for v in sorted(set(values), key=lambda v: (-values.count(v), v))]
