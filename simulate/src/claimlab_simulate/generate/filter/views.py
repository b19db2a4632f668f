"""What the filter found, as lines for a terminal and as a page."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Block,
    Column,
    Quote,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    percent,
    span,
)
from claimlab.pages.folder import Contents, write_report
from claimlab_simulate.generate.filter.result import Filtered
from claimlab_simulate.generate.filter.verdict import FAILED, PASSED, UNDECIDED

KIND = "quality report"
EXAMPLES_PER_REASON = 3
EXAMPLE_CHARACTERS = 400
JsonColumn = Column[JsonObject]
METRIC_COLUMNS = (
    JsonColumn(
        "Metric", lambda row: row["metric"] if row["gate"] else f"{row['metric']} (information)"
    ),
    JsonColumn("Stage"),
    JsonColumn("Label", "veracity"),
    JsonColumn("Passed"),
    JsonColumn("Failed", tone=lambda row: "fail" if row["failed"] else "plain"),
    JsonColumn("Not measured", tone=lambda row: "not-measured" if row["not_measured"] else "plain"),
    *map(JsonColumn, ("Does not apply", "Errors")),
    JsonColumn("Pass rate, %", "share", percent),
    JsonColumn("95% interval", "interval", span),
)
RETENTION_COLUMNS = (
    *map(JsonColumn, ("Samples", "Passed")),
    JsonColumn("Retention, %", "share", percent),
    JsonColumn("95% interval", "interval", span),
)
AGREEMENT_COLUMNS = (
    *map(JsonColumn, ("Who", "Samples")),
    JsonColumn("Agree, %", "agree", percent),
    JsonColumn("Cohen's kappa", "kappa"),
    JsonColumn("95% interval", "interval", lambda ends: f"{ends[0]:.2f} to {ends[1]:.2f}"),
)


def write_quality(filtered: Filtered, folder: Path, *, force: bool = False) -> None:
    data = {"quality.json": filtered.to_json()}
    files = {"samples.parquet": filtered.table, "readings.parquet": filtered.readings()}
    write_report(Contents(KIND, [page(filtered)], data=data, files=files), folder, force=force)


def page(filtered: Filtered) -> Report:
    step = filtered.dataset.lineage[-1]
    subtitle = f"Metrics of a dimension joined by: {step.parameters['aggregate']}."
    return Report(
        f"Quality of {filtered.dataset.name}",
        subtitle,
        [*summary(filtered), *tables(filtered), *_examples(filtered)],
    )


def summary(filtered: Filtered) -> list[Block]:
    """The conclusion, the funnel and the reasons: what a terminal shows, too."""
    total, passed = len(filtered.verdicts), filtered.count(PASSED)
    words = f"{passed:,} of {several(total, 'sample')} passed."
    if filtered.count(UNDECIDED):
        words += (
            f" {filtered.count(UNDECIDED):,} are undecided: a metric broke, or nothing could be"
            " measured."
        )
    blank = filtered.unmeasured()
    if blank:
        most, n = next(iter(blank.items()))
        words += (
            f" Not every metric could be measured: of those that passed, {n:,} did so without"
            f" {most}."
        )
    tiles = Tiles([(name, f"{n:,}", "plain") for name, n in filtered.funnel()])
    out: list[Block] = [Text(words, "conclusion"), tiles]
    if filtered.reasons():
        rows = list(filtered.reasons().items())
        out.append(
            Section(
                "Why samples failed",
                [Table(["Metric", "Samples"], rows, "A sample may fail several.")],
            )
        )
    return [*out, Section("Dimensions", [dimensions(filtered)])]


def dimensions(filtered: Filtered) -> Table:
    """The pass rate of each dimension, real text against altered."""
    rates: dict[str, dict[str, str]] = {}
    for row in filtered.by_dimension():
        rate = f"{100 * row['share']:.1f} ({row['passed']:,} of {row['measured']:,})"
        rates.setdefault(row["dimension"], {})[row["veracity"]] = rate
    labels = [
        label
        for label in ("real", "altered", "unknown")
        if any(label in by_label for by_label in rates.values())
    ]
    rows = [
        [name, *(by_label.get(label, "–") for label in labels)] for name, by_label in rates.items()
    ]
    caption = "A sample passes a dimension if no gate that was measured failed in it."
    return Table(["Dimension", *(f"{label}, %" for label in labels)], rows, caption)


def tables(filtered: Filtered) -> list[Block]:
    words = "Samples; pass rates are of those measured."
    out: list[Block] = [Section("Metrics", [Table.of(METRIC_COLUMNS, filtered.by_metric(), words)])]
    for of in ("language", "model", "degree"):
        columns = (JsonColumn(of.capitalize()), *RETENTION_COLUMNS)
        out.append(Section(f"Retention by {of}", [Table.of(columns, filtered.retention(of))]))
    blank = list(filtered.unmeasured().items())
    if blank:
        words = "Samples that passed although this metric could not be measured."
        out.append(Section("Passed without", [Table(["Metric", "Samples"], blank, words)]))
    return [*out, _agreement(filtered)]


def _agreement(filtered: Filtered) -> Block:
    if filtered.agreement:
        block: Block = Table.of(
            AGREEMENT_COLUMNS, filtered.agreement, "Keep or remove, sample by sample."
        )
    else:
        who = "The model that judged" if filtered.judge else "The filter"
        words = f"{who} is unvalidated: no annotators' decisions were passed (`decisions`)."
        block = Text(words, "warning" if filtered.judge else "note")
    return Section("Agreement with annotators", [block])


def _examples(filtered: Filtered) -> list[Block]:
    """Some samples of each reason: a person must be able to disagree."""
    quotes: dict[str, list[Block]] = {}
    for verdict in filtered.verdicts:
        for reason in verdict.reasons if verdict.verdict == FAILED else ():
            name, _, words = reason.partition(": ")
            if len(quotes.setdefault(name, [])) < EXAMPLES_PER_REASON:
                quotes[name].append(
                    Quote(
                        (verdict.first.text or "")[:EXAMPLE_CHARACTERS],
                        f"{verdict.sample}: {words}",
                    )
                )
    return [Section(f"Failed by {name}", examples) for name, examples in quotes.items()]
