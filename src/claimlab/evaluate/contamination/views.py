"""The page of a contamination report."""

from __future__ import annotations

from typing import Any

import polars as pl

from claimlab.core.words import several
from claimlab.evaluate.contamination.result import (
    FILE,
    KIND,
    KNOWN,
    RULE,
    TABLE,
    TITLES,
    Contamination,
)
from claimlab.pages.blocks import (
    Block,
    Cell,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    percent,
    span,
)
from claimlab.pages.excerpt import excerpt
from claimlab.pages.folder import Contents

LISTED = 60  # records on the page; the table of records has all
_ADVICE = {
    "fail": (
        "A model that has read these texts may score well on them and fail on new claims: report"
        " its score on the clean records, or use other ones."
    ),
    "warn": (
        "A model may know some of the records: report its score on the clean records next to the"
        " whole."
    ),
    "inconclusive": (
        "The data cannot tell: neither that the model knows the test set, nor that it does not."
    ),
    "pass": (
        "None of the measurements that were made shows it. What was not measured may still: a"
        " model's training data is rarely known."
    ),
    "not-measured": "Nothing could be measured.",
}


def contents(report: Contamination) -> Contents:
    return Contents(
        KIND, [page(report)], data={FILE: report.to_json()}, files={TABLE: report.records}
    )


def page(report: Contamination) -> Report:
    blocks: list[Block] = [
        Text(f"{conclusion(report)} {_ADVICE[report.worst.verdict]}", "conclusion"),
        tiles(report),
    ]
    blocks += [_measures(report), *_corpora(report), *_calls(report), *_records(report), method()]
    part = f", split {report.split}" if report.split else ""
    return Report(
        f"Contamination of {excerpt(report.dataset, 60)}",
        f"{several(len(report.records), 'record')}{part}.",
        blocks,
    )


def conclusion(report: Contamination) -> str:
    """What was found, in a line: the worst measurement first."""
    worst = report.worst
    return f"{TITLES[worst.check]}: {worst.verdict.replace('-', ' ')}. {worst.why}"


def tiles(report: Contamination) -> Tiles:
    counts = report.counts()
    return Tiles(
        [
            ("contaminated", f"{counts[KNOWN]:,}", "fail" if counts[KNOWN] else "plain"),
            ("clean by what was measured", f"{counts['clean']:,}", "plain"),
            (
                "not measured",
                f"{counts['not measured']:,}",
                "warn" if counts["not measured"] else "plain",
            ),
        ]
    )


def summary_table(report: Contamination) -> Table:
    """A row for each measurement, also those that were not made."""
    by_name = {f.check: f for f in report.findings}
    rows: list[list[Any]] = []
    for name, title in TITLES.items():
        f = by_name.get(name)
        if f is None:
            rows.append(
                [
                    title,
                    Cell("not measured", tone="not-measured"),
                    None,
                    None,
                    None,
                    None,
                    0,
                    "Not asked for.",
                ]
            )
            continue
        result = Cell(f.verdict.replace("-", " "), tone=f.verdict)
        control = percent(f.details.get("control"))
        rows.append(
            [
                title,
                result,
                percent(f.score),
                span(f.interval),
                control,
                span(f.difference_interval),
                f.n,
                f.why,
            ]
        )
    columns = [
        "Measurement",
        "Result",
        "Records (%)",
        "95% interval",
        "Control (%)",
        "Difference, 95%",
        "n",
        "Why",
    ]
    return Table(columns, rows, sortable=False)


def _measures(report: Contamination) -> Section:
    return Section("What was measured", [summary_table(report)], anchor="measured")


def _corpora(report: Contamination) -> list[Block]:
    tallies = next((f.details["corpora"] for f in report.findings if "corpora" in f.details), None)
    if tallies is None:
        return []
    rows: list[list[Any]] = []
    for name, counts in tallies.items():
        skipped = sum(n for kind, n in counts.items() if kind not in ("documents", "contaminated"))
        rows.append(
            [excerpt(name, 60), counts.get("documents", 0), skipped, counts["contaminated"]]
        )
    table = Table(["Corpus", "Documents", "Without a text", "Test records in it"], rows)
    return [Section("The corpora", [table], anchor="corpora")]


def _calls(report: Contamination) -> list[Block]:
    details = next((f.details for f in report.findings if "answers" in f.details), None)
    if details is None:
        return []
    answers = details["answers"]
    items = [
        f"Asked: {answers['asked']:,}; answered: {answers['answered']:,}; refused:"
        f" {answers['refused']:,}."
    ]
    items += [f"Failed, {reason}: {n:,}." for reason, n in answers["failures"].items()]
    items += [f"Too short for the probe: {several(details['too_short'], 'record')}."]
    items += [f"Note: {note}." for note in answers["notes"]]
    return [Section("The model's replies", [Items(items)], anchor="replies")]


def _records(report: Contamination) -> list[Block]:
    rows = report.records.filter(pl.col("status") == KNOWN)
    if not rows.height:
        return []
    shown = [c for c in ("share_8", "share_13", "verbatim") if c in rows.columns]
    titles = {"share_8": "8-grams (%)", "share_13": "13-grams (%)", "verbatim": "Second half (%)"}
    columns = [
        "Record",
        *(titles[c] for c in shown),
        *(["Corpora"] if "corpora" in rows.columns else []),
    ]
    body: list[list[Any]] = [
        [
            excerpt(row["id"], 60),
            *(percent(row[c]) for c in shown),
            *([excerpt(row["corpora"] or "", 80) or None] if "corpora" in rows.columns else []),
        ]
        for row in rows.head(LISTED).iter_rows(named=True)
    ]
    blocks: list[Block] = [Table(columns, body)]
    if rows.height > LISTED:
        blocks.insert(
            0, Text(f"{LISTED} of {rows.height:,} records are shown; {TABLE} has them all.", "note")
        )
    return [Section(f"Contaminated records ({rows.height:,})", blocks, anchor="records")]


def method() -> Section:
    margin = f"{100 * RULE.margin:.0f} points"
    return Section(
        "How these figures were made",
        [
            Items(
                [
                    (
                        "Word sequences: a record is contaminated if at least 70% of its 8-word"
                        " sequences occur in the corpora. The control is the same texts with their"
                        " words in random order. Records with fewer than 8 words are not measured."
                        " Absence from these corpora does not show that a model has not read it."
                    ),
                    (
                        "Completion: the model gets the first half of a text and is asked for the"
                        " rest. A run of 8 words of the second half counts. The control holds each"
                        " reply against five other records in the same language. A refusal or"
                        " failed call is counted and not measured. A model may know a text and not"
                        " repeat it."
                    ),
                    (
                        "Dates: only a record dated after the cut-off cannot have been read. Dates"
                        " alone never fail."
                    ),
                    (
                        "Fail when the 95% interval of the difference to the control lies above"
                        f" {margin} and p is at most {RULE.alpha}; warn when it lies above 0; pass"
                        f" when it ends below {margin}; otherwise inconclusive. Intervals resample"
                        " whole groups; p is of a sign test over groups. Not measured with fewer"
                        f" than {RULE.min_units} groups."
                    ),
                ]
            )
        ],
        anchor="method",
    )
