"""The analysis of the evidence as blocks of a report, and as a page of its own."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of
from claimlab.enrich.patterns import analyse
from claimlab.pages.blocks import Block, Figure, Report, Section, Table, Text, percent
from claimlab.pages.charts import CLASS_COLOURS, bars, to_svg
from claimlab.pages.folder import Contents, write_report

DATA = "evidence.json"
KIND = "evidence report"
_LABELS = ("true", "false", "mixed", "unknown", "none")


def write_evidence(dataset: Dataset, folder: Path, *, force: bool = False) -> JsonObject:
    """The report on the evidence in `folder`; returns the analysis."""
    analysis = analyse(dataset)
    page = Report(
        f"Evidence: {dataset.name}", "What a search found for each record.", blocks(analysis)
    )
    write_report(Contents(KIND, [page], data={DATA: analysis}), folder, force=force)
    return analysis


def blocks(analysis: JsonObject) -> list[Block]:
    out: list[Block] = []
    if analysis["outcomes"]:
        out.append(
            Section(
                "Outcomes", [_table(analysis["outcomes"], "outcome", "What became of the records.")]
            )
        )
    marks = analysis["marks"]
    kept_apart = (
        f"{several(analysis['evidence'], 'piece')} of evidence. Marked: {marks['filtered']:,}"
        f" social media, {several(marks['guard_factcheck'], 'fact-check')},"
        f" {marks['guard_own_source']:,} from the record's own source,"
        f" {several(marks['guard_copy'], 'near-copy', 'near-copies')} of the record."
    )
    rows = [
        [p["pattern"], p["what"], p["records"], p["of"], percent(p["share"])]
        for p in analysis["patterns"]
    ]
    table = Table(["Pattern", "What it is", "Records", "Of", "%"], rows, sortable=False)
    out.append(Section("Evidence patterns", [Text(kept_apart), table]))
    out.append(
        Section(
            "Domains",
            [_table(analysis["domains"], "domain", "All results, by the record's verdict.")],
        )
    )
    checkers = [
        _table(analysis["factcheck_domains"], "domain", "Fact-checks by domain."),
        _table(analysis["ratings"], "rating", "Ratings as the fact-checkers wrote them."),
        _table(analysis["verdicts"], "verdict", "The same ratings in four words."),
        _agencies(analysis["agencies"]),
    ]
    out.append(Section("Fact-checks", checkers))
    dates: list[Block] = [
        Text(f"Without a date: {several_of(analysis['undated'], analysis['evidence'], 'piece')}.")
    ]
    dates += _histogram(analysis["years"], "All evidence by year of publication.")
    dates += _histogram(analysis["factcheck_years"], "Fact-checks by year of publication.")
    out.append(Section("Publication dates", dates))
    return out


def _table(rows: list[JsonObject], column: str, caption: str) -> Block:
    if not rows:
        return Text(f"{caption} There are none.", kind="note")
    held = [label for label in _LABELS if any(label in row for row in rows)]
    cells = [[row[column], row["all"], *(row.get(label, 0) for label in held)] for row in rows]
    return Table([column.capitalize(), "All", *held], cells, caption)


def _agencies(rows: list[JsonObject]) -> Block:
    caption = "Ratings of each fact-checker, as written; those that differ in case alone are one."
    if not rows:
        return Text(f"{caption} There are none.", kind="note")
    cells = [
        [r["domain"], r["all"], ", ".join(f"{name} ({n:,})" for name, n in r["ratings"].items())]
        for r in rows
    ]
    return Table(["Fact-checker", "Rated", "Ratings"], cells, caption)


def _histogram(rows: list[JsonObject], caption: str) -> list[Block]:
    if not rows:
        return []
    shown = [{**row, "year": str(row["year"])} for row in rows]
    used = {row["veracity"] for row in rows}
    colours = {label: CLASS_COLOURS.get(label, "#8a93a0") for label in _LABELS if label in used}
    chart = bars(
        shown,
        category="year",
        value="len",
        colour="veracity",
        colours=colours,
        title="pieces",
        horizontal=False,
    )
    return [Figure(to_svg(chart), caption, f"Bar chart: {caption}")]
