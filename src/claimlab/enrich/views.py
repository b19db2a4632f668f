"""The page of what the evidence looks like for true and for false records."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of
from claimlab.enrich.analysis import analyse
from claimlab.pages.blocks import Block, Figure, Report, Section, Table, Text, percent
from claimlab.pages.charts import CLASS_COLOURS, UNKNOWN, bars
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
    outcomes = analysis["outcomes"]
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
    unknown = several(analysis["stance_not_measured"], "piece")
    stance = Text(f"The stance of {unknown} that correspond is not measured.", kind="note")
    checkers = [
        _table(analysis["factcheck_domains"], "domain", "Fact-checks by domain."),
        _table(analysis["ratings"], "rating", "Ratings as the fact-checkers wrote them."),
        _table(analysis["verdicts"], "verdict", "The same ratings in four words."),
        _cells(
            ["Fact-checker", "Rated", "Ratings"],
            [
                [r["domain"], r["all"], ", ".join(f"{k} ({n:,})" for k, n in r["ratings"].items())]
                for r in analysis["agencies"]
            ],
            "Ratings of each fact-checker, as written; those that differ in case alone are one.",
        ),
    ]

    dates: list[Block] = [
        Text(f"Without a date: {several_of(analysis['undated'], analysis['evidence'], 'piece')}.")
    ]
    dates += _histogram(analysis["years"], "All evidence by year of publication.")
    dates += _histogram(analysis["factcheck_years"], "Fact-checks by year of publication.")
    domains = _table(analysis["domains"], "domain", "All results, by the record's verdict.")
    sections: dict[str, list[Block]] = {
        "Outcomes": [_table(outcomes, "outcome", "What became of the records.")],
        "Evidence patterns": [Text(kept_apart), table, stance],
        "Domains": [domains],
        "Fact-checks": checkers,
        "Publication dates": dates,
    }
    if not outcomes:
        del sections["Outcomes"]
    return [Section(title, inside) for title, inside in sections.items()]


def _table(rows: list[JsonObject], column: str, caption: str) -> Block:
    labels = [label for label in _LABELS if any(label in row for row in rows)]
    cells = [[row[column], row["all"], *(row.get(label, 0) for label in labels)] for row in rows]
    return _cells([column.capitalize(), "All", *labels], cells, caption)


def _cells(heads: list[str], cells: list[list[str | int]], caption: str) -> Block:
    return Table(heads, cells, caption) if cells else Text(f"{caption} There are none.", "note")


def _histogram(rows: list[JsonObject], caption: str) -> list[Block]:
    if not rows:
        return []
    bars_of_years = [{**row, "year": str(row["year"])} for row in rows]
    used = {row["veracity"] for row in rows}
    colours = {label: CLASS_COLOURS.get(label, UNKNOWN) for label in _LABELS if label in used}
    chart = bars(
        bars_of_years,
        category="year",
        value="len",
        colour="veracity",
        colours=colours,
        title="pieces",
        horizontal=False,
    )
    return [Figure(chart, caption, f"Bar chart: {caption}")]
