"""Audit pages: the findings, the most severe first, filterable, and a page for each with its
figures and records.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

import polars as pl
from fastapi import Query
from pydantic import Field

from claimlab.audit.advice import points_of
from claimlab.audit.remedy import SuggestedCall
from claimlab.audit.result import Audit
from claimlab.audit.views import pictures
from claimlab.audit.views.first_screen import (
    Places,
    first_screen,
    in_a_sentence,
    tone_of,
    verdict_words,
)
from claimlab.audit.views.page import PageDetail, finding_blocks
from claimlab.audit.views.tables import PageRecords
from claimlab.audit.views.wording import explanation, finding_title, headline, verdict_line
from claimlab.core.dataset import RECORDS
from claimlab.core.finding import VERDICTS, Finding, Verdict
from claimlab.core.tables import scan_parquet
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Blocks, Tone, excerpt
from claimlab.web.actions import form_link
from claimlab.web.filters import Facet, PageFilters, Values, facet, tally
from claimlab.web.page import Audited, Here, page
from claimlab.web.workspace import (
    FolderName,
    Shape,
    Workspace,
    WorkspaceFolder,
    audits_in,
    finding_at,
    findings_in,
    record_link,
)

LISTED = 50  # records on the page of a finding


CHOSEN = ("verdict", "check", "dataset")  # what findings are filtered by


class FindingFilters(PageFilters):
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


class Doing(Shape):
    """A command that carries out advice, and the form that starts it."""

    command: str
    link: str | None


class AdviceRow(Shape):
    text: str
    points: float
    verdict: Verdict
    commands: list[Doing]


class FindingRow(Shape):
    """A finding in the list of an audit."""

    number: int
    dataset: str
    check: str
    title: str
    verdict: Verdict
    why: str
    score: float | None
    interval: tuple[float, float] | None
    baseline: float | None
    """What the best baseline reaches."""
    points: float
    """By how much it can move a score."""
    p_adjusted: float | None
    n: int
    records: int
    link: str


class Screen(Shape):
    """The first screen of an audit in words."""

    dataset: str
    verdict: str
    tone: Tone
    head: str
    sentence: str


class AuditPage(FolderName):
    screens: list[Screen]
    headlines: list[str]
    conclusions: list[str]
    advice: list[AdviceRow]
    """What to do about the findings, by rules."""
    verdicts: dict[str, int]
    filters: FindingFilters
    facets: list[Facet]
    findings: list[FindingRow]
    datasets: dict[str, str | None]
    """Datasets that were audited, with links where they are here."""


class FindingPage(Shape):
    audit: str
    number: int
    dataset: str
    title: str
    verdict: Verdict
    finding: JsonObject
    dataset_link: str | None
    records_link: str | None
    review_link: str | None
    records: list[dict[str, str | None]]
    """The first records that the finding points at."""
    records_in_all: int
    """How many records the finding points at."""
    records_kept: int
    """How many of them the audit keeps: these can be listed and reviewed."""


def screens_of(workspace: Workspace, page: AuditPage) -> list[Blocks]:
    """The first screen of each audit, with links into the workspace."""
    place = workspace.get(page.id, "audit")
    numbers = {id(finding): n for n, (_, finding) in enumerate(findings_in(place))}
    screens = []
    for audit in audits_in(place):
        data = workspace.with_digest(audit.digest)

        def link(finding: Finding) -> str:
            return f"{place.entry.link}/findings/{numbers[id(finding)]}"

        def start(call: SuggestedCall, data: WorkspaceFolder | None = data) -> str | None:
            return None if data is None else form_link(data, call)

        def review(finding: Finding, data: WorkspaceFolder | None = data) -> str | None:
            chosen = urlencode({"audit": place.entry.id, "finding": numbers[id(finding)]})
            return _link(f"/new-review?dataset={{}}&{chosen}", data if finding.records else None)

        inside = None if data is None else data.folder.relative_to(workspace.folder).as_posix()
        unmeasured = f"{place.entry.link}?verdict=not-measured&verdict=not-applicable"
        screens.append(first_screen(audit, Places(link, unmeasured, start, review, inside)))
    return screens


@page("/audits/{place}", "audit.html.jinja", screens_of=screens_of)
def audit_page(
    place: Audited, filters: Annotated[FindingFilters, Query()], workspace: Here
) -> AuditPage:
    """The findings of an audit."""
    base = place.entry.link
    audits = audits_in(place)
    every = [
        _finding_row(base, number, audit.dataset, finding)
        for number, (audit, finding) in enumerate(findings_in(place))
    ]
    findings = sorted(
        filter(filters.passes, every),
        key=lambda f: (VERDICTS.index(f.verdict), f.dataset, -f.points, f.title),
    )
    tallies = {name: tally(pl.Series([getattr(f, name) for f in every])) for name in CHOSEN}
    tallies["verdict"].sort(key=lambda tally_row: VERDICTS.index(tally_row[0]))
    dataset_of = {audit.dataset: workspace.with_digest(audit.digest) for audit in audits}
    return AuditPage(
        **place.named,
        screens=[_screen(audit) for audit in audits],
        headlines=[f"{a.dataset}: {headline(a)}" for a in audits],
        conclusions=[verdict_line(audit.concluded()) for audit in audits],
        advice=[piece for a in audits for piece in _advice(workspace, a)],
        verdicts=dict(tallies["verdict"]),
        filters=filters,
        findings=findings,
        facets=[
            facet(filters, base, name, name.capitalize(), tally)
            for name, tally in tallies.items()
            if len(tally) > 1
        ],
        datasets={name: _link("/datasets/{}", at) for name, at in dataset_of.items()},
    )


def _screen(audit: Audit) -> Screen:
    head, sentence = in_a_sentence(audit)
    return Screen(
        dataset=audit.dataset,
        verdict=verdict_words(audit),
        tone=tone_of(audit),
        head=head,
        sentence=sentence,
    )


def blocks_of(workspace: Workspace, page: FindingPage) -> Blocks:
    """What the report of the audit shows of the finding, with words and records that lead into the
    dataset.
    """
    audit, finding = finding_at(workspace.get(page.audit, "audit"), page.number)
    base = page.dataset_link
    word = None if base is None else (lambda text: f"{base}?{urlencode({'word': text})}")
    figures = pictures.of_finding(finding, f"finding-{page.number}", link=word)
    dataset = (base or "").removeprefix("/datasets/")
    links = {id: record_link(dataset, id) for id in finding.records if base is not None}
    rows = PageRecords(links, {e.id: e for e in audit.examples})
    question, *rule = explanation(finding.check, finding.protocol)
    return [question, *finding_blocks(finding, figures, rows, PageDetail()), *rule]


@page("/audits/{place}/findings/{number}", "finding.html.jinja", finding_blocks=blocks_of)
def finding_page(
    place: Audited, number: Annotated[int, Field(ge=0, le=100_000)], workspace: Here
) -> FindingPage:
    """One finding with its records."""
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
        records=_records(finding, data, audit),
        records_in_all=finding.pointed_at,
        records_kept=len(finding.records),
    )


def _records(
    finding: Finding, data: WorkspaceFolder | None, audit: Audit
) -> list[dict[str, str | None]]:
    """The first records of a finding with their texts: from the dataset, or as the audit keeps a
    few of them.
    """
    ids = finding.records[:LISTED]
    texts = {
        example.id: {"text": example.text, "label": example.label} for example in audit.examples
    }
    if data is not None:
        scan = scan_parquet(data.folder / RECORDS).filter(pl.col("id").is_in(ids))
        rows = scan.select("id", "text", "veracity").collect().iter_rows()
        texts |= {
            id: {"text": excerpt(text or "", 300), "label": label} for id, text, label in rows
        }
    unknown = {"text": None, "label": None}
    links = {id: None if data is None else record_link(data.entry.id, id) for id in ids}
    return [{"id": id, **texts.get(id, unknown), "link": link} for id, link in links.items()]


def _link(address: str, dataset: WorkspaceFolder | None) -> str | None:
    """The address with the id of the dataset in it, where the dataset is here."""
    return None if dataset is None else address.format(dataset.entry.id)


def _advice(workspace: Workspace, audit: Audit) -> list[AdviceRow]:
    """The advice, with commands for the workspace's own folder."""
    place = workspace.with_digest(audit.digest)
    inside = None if place is None else place.folder.relative_to(workspace.folder).as_posix()
    return [
        AdviceRow(
            text=advice.text,
            points=advice.points,
            verdict=advice.verdict,
            commands=[
                Doing(
                    command=command.shell, link=None if place is None else form_link(place, command)
                )
                for command in advice.commands
            ],
        )
        for advice in audit.concluded(inside).advice
    ]


def _finding_row(base: str, number: int, dataset: str, finding: Finding) -> FindingRow:
    same = ("check", "verdict", "why", "score", "interval", "p_adjusted", "n")
    scores = [value for value in finding.baselines.model_dump().values() if value is not None]
    return FindingRow(
        number=number,
        dataset=dataset,
        title=finding_title(finding),
        records=finding.pointed_at,
        baseline=max(scores, default=None),
        points=points_of(finding),
        link=f"{base}/findings/{number}",
        **{name: getattr(finding, name) for name in same},
    )
