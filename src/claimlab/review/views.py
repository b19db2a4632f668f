"""Status, agreement and batches as blocks: the command line and the web show the same."""

from __future__ import annotations

from functools import partial

from claimlab.core.stats.powered import FEWEST_ANNOTATED
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import Blocks, Column, Columns, Table, Text
from claimlab.review.agreement import FIGURES, Agreement
from claimlab.review.batches import BatchTable
from claimlab.review.estimate import Estimates
from claimlab.review.status import ReviewStatus

SHARES: Columns[JsonObject] = (
    Column("Share"),
    Column("Percent", lambda row: _within(row, "estimate", "low", "high")),
    Column("Annotators", lambda row: _within(row, "annotators_alone", "alone_low", "alone_high")),
    Column("Judge", lambda row: _percent(row["judge_alone"]), optional=True),
    Column("Saved", lambda row: _percent(row["saved"]), optional=True),
    Column("More", optional=True),
)


def _counted(head: str, of: str, name: str = "") -> Column[JsonObject]:
    """How many were answered rightly, of those answered; nothing where there were none."""
    right = name or f"{of}_right"
    return Column(head, lambda row: f"{row[right]} of {row[of]}" if row[of] else "", optional=True)


# Columns that say nothing are left out, so that the table fits a terminal.
PEOPLE: Columns[JsonObject] = (
    Column("Name", optional=True),
    Column("Role", optional=True),
    _counted("Done", "assigned", "done"),
    Column("Skipped", lambda row: row["skipped"] or "", optional=True),
    Column("Returned", lambda row: row["returned"] or "", optional=True),
    _counted("Gold", "gold"),
    _counted("Attention", "attention"),
    Column("Median s", "median_seconds", "{:.1f}".format, "", optional=True),
)


def status_blocks(status: ReviewStatus) -> Blocks:
    table = Table.of(PEOPLE, status)
    right = " Gold and attention: answered rightly, of those answered."
    checked = {"Gold", "Attention"} & set(table.columns)
    how = ", ".join(f"{name} {n:,}" for name, n in status.items.items()) or "none"
    about = f"Review {status.headline()}. Items: {how}.{right if checked else ''}"
    return [Text(about), table]


def agreement_blocks(figures: Agreement) -> Blocks:
    if not figures.measured:
        todo = "Agreement is measured once two annotators have answered the same item."
        return [Text(f"Agreement of {figures.headline()}. {todo}")]
    heads = {"percent": "Percent", "kappa": "Kappa", "alpha": f"Alpha ({figures.level})"}
    columns: list[Column[JsonObject]] = [
        *map(Column[JsonObject], ("Between", "Votes", "Items")),
        *(Column(heads[name], partial(_figure, name)) for name in FIGURES),
    ]
    blocks: Blocks = [
        Text(f"Agreement of {figures.headline()}."),
        Table.of(columns, figures),
        Text(
            "Kappa is Fleiss' for all annotators and Cohen's for a pair. From 20 items, with 95%"
            " intervals."
        ),
    ]
    if figures.bounds is not None:
        low, mean, high = (100 * figures.bounds[k] for k in ("lower", "average", "upper"))
        blocks.append(
            Text(
                f"Positive answers: lower bound {low:.1f}%, average {mean:.1f}%, upper bound"
                f" {high:.1f}%."
            )
        )
    return blocks


def _figure(name: str, row: JsonObject) -> str:
    scale, digits = (100, 0) if name == "percent" else (1, 2)
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return "not defined"
    figure = f"{scale * value:.{digits}f}"
    if low is None:
        return figure
    return f"{figure} ({scale * low:.{digits}f} to {scale * high:.{digits}f})"


def _accuracy(row: JsonObject) -> str:
    if row["accuracy"] is None:
        return "not inspected"
    return f"{100 * row['accuracy']:.0f}% ({100 * row['low']:.0f} to {100 * row['high']:.0f})"


BATCHES: Columns[JsonObject] = (
    *map(Column[JsonObject], ("Batch", "Records", "Inspected", "Right")),
    Column("Accuracy", _accuracy),
    Column("State"),
    Column("Times returned", "returned"),
)


def batch_blocks(batches: BatchTable) -> Blocks:
    summary = batches.summary()
    heads = [name.capitalize() for name in summary]
    return [Table.of(BATCHES, batches), Table(heads, [list(summary.values())])]


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _within(row: JsonObject, value: str, low: str, high: str) -> str:
    """A share in percent, with its interval where there is one."""
    if row[low] is None:
        return _percent(row[value])
    return f"{_percent(row[value])} ({_percent(row[low])} to {_percent(row[high])})"


def estimate_blocks(estimates: Estimates) -> Blocks:
    left = f" {several(estimates.undecided, 'item')} not decided." if estimates.undecided else ""
    about = (
        "With 95% intervals, beside what annotators alone and the judge alone give. Saved: the"
        " percentage of annotated records that the judge made unnecessary."
        if estimates.measured
        else f"Intervals need at least {FEWEST_ANNOTATED} annotated records."
    )
    precise = estimates.precision()
    return [
        *([] if precise is None else [Text(precise, "conclusion")]),
        Text(f"Review {estimates.headline()}.{left}"),
        Table.of(SHARES, estimates),
        Text(f"{about}{_stop(estimates)}"),
    ]


def _stop(estimates: Estimates) -> str:
    """Whether annotating may stop, where a width is asked for."""
    if estimates.width is None or not estimates.measured:
        return ""
    more = max(row["more"] for row in estimates)
    if more:
        return f" Not yet: annotate about {several(more, 'more record')}, and look again."
    return f" Every interval is at most {estimates.width:g} wide: annotating may stop."
