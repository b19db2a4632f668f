"""What an overlap report says of a model and a test set."""

from __future__ import annotations

from claimlab.claims.contamination.result import (
    CLEAN,
    KNOWN,
    RULE,
    TABLE,
    TITLES,
    UNKNOWN,
    Contamination,
    not_measured,
)
from claimlab.core.finding import Finding
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Blocks,
    Column,
    Columns,
    Items,
    Section,
    Table,
    Text,
    Tiles,
    percent,
    short,
    span,
)

RECORDS_LISTED = 60  # records on the page; the table of records has all
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
MEASUREMENT: Columns[Finding] = (
    Column("Measurement", lambda f: TITLES[f.check]),
    Column("Result", lambda f: f.verdict.replace("-", " "), tone=lambda f: f.verdict),
    Column("Records (%)", "score", percent),
    Column("95% interval", "interval", span),
    Column("Control (%)", lambda f: f.details.get("control"), percent),
    Column("Difference, 95%", "difference_interval", span),
    Column("n"),
    Column("Why"),
)
CORPUS: tuple[Column[tuple[str, dict[str, int]]], ...] = (
    Column("Corpus", 0, short(60)),
    Column("Documents", lambda row: row[1].get("documents", 0)),
    Column(
        "Without a text",
        lambda row: sum(row[1].values()) - row[1].get("documents", 0) - row[1]["contaminated"],
    ),
    Column("Test records in it", lambda row: row[1]["contaminated"]),
)
RECORD: dict[str, Column[JsonObject]] = {
    "id": Column("Record", "id", short(60)),
    "share_8": Column("8-grams (%)", "share_8", percent),
    "share_13": Column("13-grams (%)", "share_13", percent),
    "verbatim": Column("Second half (%)", "verbatim", percent),
    "corpora": Column("Corpora", "corpora", short(80)),
}
_MARGIN = f"{100 * RULE.margin:.0f} points"
_METHOD = (
    "Word sequences: a record is contaminated if at least 70% of its 8-word sequences occur in the"
    " corpora. The control is the same texts with their words in random order. Records with fewer"
    " than 8 words are not measured. Absence from these corpora does not show that a model has not"
    " read it.",
    "Completion: the model gets the first half of a text and is asked for the rest. A run of 8"
    " words of the second half counts. The control holds each reply against five other records in"
    " the same language. A refusal or failed call is counted and not measured. A model may know a"
    " text and not repeat it.",
    "Dates: only a record dated after the cut-off cannot have been read. Dates alone never fail.",
    "Fail when the 95% interval of the difference to the control lies above"
    f" {_MARGIN} and p is at most {RULE.alpha}; warn when it lies above 0; pass when it ends below"
    f" {_MARGIN}; otherwise inconclusive. Intervals resample whole groups; p is of a sign test over"
    f" groups. Not measured with fewer than {RULE.min_units} groups.",
)


def blocks(report: Contamination) -> Blocks:
    """What was measured of a model and a test set, as a part of a page."""
    part = f", split {report.split}" if report.split else ""
    return [
        Text(f"{several(len(report.records), 'record')}{part}.", "note"),
        Text(f"{conclusion(report)} {_ADVICE[report.worst.verdict]}", "conclusion"),
        tiles(report),
        summary_table(report),
        *_corpora(report),
        *_calls(report),
        *_records(report),
        method(),
    ]


def conclusion(report: Contamination) -> str:
    """What was found, in a line: the worst measurement first."""
    worst = report.worst
    return f"{TITLES[worst.check]}: {worst.verdict.replace('-', ' ')}. {worst.why}"


def tiles(report: Contamination) -> Tiles:
    counts = report.counts()
    contaminated, clean, unknown = (f"{counts[name]:,}" for name in (KNOWN, CLEAN, UNKNOWN))
    return Tiles(
        [
            ("contaminated", contaminated, "fail" if counts[KNOWN] else "plain"),
            ("clean by what was measured", clean, "plain"),
            ("not measured", unknown, "warn" if counts[UNKNOWN] else "plain"),
        ]
    )


def summary_table(report: Contamination) -> Table:
    """A row for each measurement, also those that were not made."""
    findings = {f.check: f for f in report.findings}
    rows = [findings.get(name) or not_measured(name, "Not asked for.", 0) for name in TITLES]
    return Table.of(MEASUREMENT, rows, sortable=False)


def _corpora(report: Contamination) -> Blocks:
    tallies = next((f.details["corpora"] for f in report.findings if "corpora" in f.details), None)
    if tallies is None:
        return []
    return [Section("The corpora", [Table.of(CORPUS, tallies.items())], anchor="corpora")]


def _calls(report: Contamination) -> Blocks:
    details = next((f.details for f in report.findings if "answers" in f.details), None)
    if details is None:
        return []
    answers = details["answers"]
    items = [
        f"Asked: {answers['asked']:,}; answered: {answers['answered']:,}; refused:"
        f" {answers['refused']:,}.",
        *(f"Failed, {reason}: {n:,}." for reason, n in answers["failures"].items()),
        f"Too short for the probe: {several(details['too_short'], 'record')}.",
        *(f"Note: {note}." for note in answers["notes"]),
    ]
    return [Section("The model's replies", [Items(items)], anchor="replies")]


def _records(report: Contamination) -> Blocks:
    rows = report.records.filter(status=KNOWN)
    if not rows.height:
        return []
    columns = [column for name, column in RECORD.items() if name in rows.columns]
    blocks: Blocks = [Table.of(columns, rows.head(RECORDS_LISTED).iter_rows(named=True))]
    if rows.height > RECORDS_LISTED:
        note = f"{RECORDS_LISTED} of {rows.height:,} records are shown; {TABLE} has them all."
        blocks.insert(0, Text(note, "note"))
    return [Section(f"Contaminated records ({rows.height:,})", blocks, anchor="records")]


def method() -> Section:
    return Section("How this was measured", [Items(_METHOD)], anchor="method-model")
