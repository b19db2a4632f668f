"""The demo's page as a story: what was planted, what was found, what to do. Details are on a page
of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claimlab.audit.advice import reason
from claimlab.audit.result import Audit
from claimlab.audit.views.wording import in_a_line
from claimlab.clean.run import Cleaned
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.generate.planted import DEFECTS, Truth
from claimlab.pages.blocks import Block, Cell, Items, Report, Section, Table, Text, Tiles
from claimlab.pages.blocks import anchor as anchor_of

DETAILS = "details.html"
AUDIT = "audit/index.html"

# Which finding of the audit shows which planted defect; the rest are shown by later stages.
FOUND_BY_AUDIT: dict[str, tuple[str, str | None]] = {
    "keyword": ("giveaways", None),
    "time-gap": ("time", "date"),
    "publisher": ("source", None),
    "length-gap": ("length", None),
    "contradicting-near-duplicates": ("near-duplicates", "under different labels"),
    "url-under-both-labels": ("url-conflicts", None),
    "duplicates-across-splits": ("near-duplicates", "across the given split"),
    "infeasible": ("feasibility", None),
}


@dataclass
class Tour:
    """What the stages made so far."""

    folder: Path
    seed: int
    dataset: Dataset
    twin: Dataset
    truth: Truth
    progress: Progress = silent
    audit: Audit | None = None
    twin_audit: Audit | None = None
    cleaned: Cleaned | None = None
    twin_cleaned: Cleaned | None = None
    found: dict[str, str] = field(default_factory=dict)  # defect -> where it was found
    sections: list[Block] = field(default_factory=list)
    enriched: JsonObject = field(
        default_factory=dict
    )  # what became of the claims that were searched for
    reviewed: JsonObject = field(
        default_factory=dict
    )  # items, and the verdict on the finding after the review


def findings_of(audit: Audit, check: str, feature: str | None) -> list[Finding]:
    return [f for f in audit.findings if f.check == check and feature in (None, f.feature)]


def story(tour: Tour) -> Report:
    """The page that a newcomer reads: one screen for each question, and links to the rest."""
    alarms = (
        [f for f in tour.twin_audit.findings if f.verdict in ("fail", "warn")]
        if tour.twin_audit
        else []
    )
    count = len(tour.found)
    tiles = Tiles(
        [
            ("records", f"{tour.dataset.records.height:,}", "plain"),
            ("defects planted", str(len(DEFECTS)), "plain"),
            ("found", str(count), "pass" if count == len(DEFECTS) else "warn"),
            ("false alarms on the clean twin", str(len(alarms)), "warn" if alarms else "pass"),
        ]
    )
    subtitle = "The whole job on a synthetic dataset with planted defects, offline."
    return Report(
        "claimlab demo",
        subtitle,
        [tiles, planted_part(tour), found_part(tour), advice_part(tour), more(tour)],
    )


def details(tour: Tour) -> Report:
    """What each stage did, in full."""
    return Report("claimlab demo: details", "What each stage of the demo did.", tour.sections)


def planted_part(tour: Tour) -> Section:
    sentences = (
        "Claims about invented places in three languages; their labels are random, so nothing"
        f" separates true from false. Then {len(DEFECTS)} defects of real datasets were planted. A"
        " detector that scores well here has learned a defect."
    )
    rows: list[list[Any]] = [
        [name, what, len(tour.truth.records.get(name, [])) or "in all records"]
        for name, what in DEFECTS.items()
    ]
    return Section(
        "What was planted", [Text(sentences), Table(["Defect", "What it is", "Records"], rows)]
    )


def found_part(tour: Tour) -> Section:
    """Each defect with what found it and the figure that shows it."""
    rows: list[list[Cell | str]] = []
    for name in DEFECTS:
        finder = tour.found.get(name)
        where = (
            Cell(finder, tone="pass", link=_page_of(finder))
            if finder
            else Cell("not yet", tone="not-measured")
        )
        rows.append([name, where, *_evidence(tour, name)])
    sentences = (
        f"{len(tour.found)} of {several(len(DEFECTS), 'planted defect')} found. A score is what one"
        " feature alone reaches; 50 is chance."
    )
    columns = ["Defect", "Found by", "Macro-F1", "95% interval", "In short"]
    blocks: list[Block] = [Text(sentences, "conclusion"), Table(columns, rows)]
    return Section("What was found", blocks)


def _page_of(finder: str) -> str:
    return AUDIT if finder.startswith("audit") else f"{DETAILS}#the-cleaning"


def _evidence(tour: Tour, name: str) -> list[str]:
    """Score, interval and a few words."""
    if name in FOUND_BY_AUDIT and tour.audit is not None:
        failed = [f for f in findings_of(tour.audit, *FOUND_BY_AUDIT[name]) if f.verdict == "fail"]
        if failed:
            low, high = failed[0].interval or (0.0, 0.0)
            macro = failed[0].score is not None and failed[0].baselines.best() is not None
            figure = f"{100 * (failed[0].score or 0):.1f}"
            if macro:
                return [figure, f"{100 * low:.1f} to {100 * high:.1f}", reason(failed[0])]
            share = "" if failed[0].score is None else f"only {figure}% "
            return ["", "", f"{share}{reason(failed[0])}"]
    records = len(tour.truth.records.get(name, []))
    return ["", "", f"{several(records, 'record')} set aside" if name in tour.found else ""]


def advice_part(tour: Tour) -> Section:
    """The audit's advice, as commands."""
    blocks: list[Block] = []
    if tour.audit is not None:
        done = tour.audit.concluded()
        blocks += [Text(done.text[:1].upper() + done.text[1:], "conclusion")]
        blocks += [Items([in_a_line(advice) for advice in done.advice])]
    blocks += [
        Text(
            "Look at the data, the findings and the predictions in your browser; run this in the"
            " demo's folder:"
        )
    ]
    blocks += [Items(["`claimlab serve . --open`"])]
    return Section("What to do", blocks)


def more(tour: Tour) -> Section:
    """Every stage in a sentence, with a link to its details."""
    rows: list[list[Any]] = [
        [Cell("The audit", link=AUDIT), "Every check with its figures, charts and records."]
    ]
    for section in tour.sections:
        if isinstance(section, Section):
            first = next((b.text for b in section.blocks if isinstance(b, Text)), "")
            rows.append([Cell(section.title, link=f"{DETAILS}#{anchor_of(section)}"), first])
    return Section("Look closer", [Table(["Stage", "In short"], rows, sortable=False)])
