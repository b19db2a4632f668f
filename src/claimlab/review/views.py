"""Status, agreement and batches as blocks: the command line and the web show the same."""

from __future__ import annotations

from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Block, Table, Text
from claimlab.review.agreement import FIGURES, Agreement
from claimlab.review.batches import BatchTable
from claimlab.review.status import ReviewStatus


def status_blocks(status: ReviewStatus) -> list[Block]:
    columns = {
        "Name": [r["name"] for r in status],
        "Role": [r["role"] for r in status],
        "Done": [_of(r["done"], r["assigned"]) for r in status],
        "Skipped": [r["skipped"] or "" for r in status],
        "Returned": [r["returned"] or "" for r in status],
        "Gold": [_of(r["gold_right"], r["gold"]) for r in status],
        "Attention": [_of(r["attention_right"], r["attention"]) for r in status],
        "Median s": [
            "" if r["median_seconds"] is None else f"{r['median_seconds']:.1f}" for r in status
        ],
    }
    shown = {
        head: cells for head, cells in columns.items() if any(cells)
    }  # so that the table fits a terminal
    table = Table(tuple(shown), list(zip(*shown.values(), strict=True)))
    right = (
        " Gold and attention: answered rightly, of those answered."
        if {"Gold", "Attention"} & set(shown)
        else ""
    )
    how = ", ".join(f"{name} {n:,}" for name, n in status.items.items()) or "none"
    return [Text(f"Review {status.headline()}. Items: {how}.{right}"), table]


def agreement_blocks(figures: Agreement) -> list[Block]:
    if not figures.measured:
        todo = "Agreement is measured once two annotators have answered the same item."
        return [Text(f"Agreement of {figures.headline()}. {todo}")]
    names = {"percent": "Percent", "kappa": "Kappa", "alpha": f"Alpha ({figures.level})"}
    rows = [
        (r["between"], r["votes"], r["items"], *(_figure(r, name) for name in FIGURES))
        for r in figures
    ]
    blocks: list[Block] = [
        Text(f"Agreement of {figures.headline()}."),
        Table(("Between", "Votes", "Items", *names.values()), rows),
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


def batch_blocks(batches: BatchTable) -> list[Block]:
    columns = ("Batch", "Records", "Inspected", "Right", "Accuracy", "State", "Times returned")
    rows = [
        (
            r["batch"],
            r["records"],
            r["inspected"],
            r["right"],
            _accuracy(r),
            r["state"],
            r["returned"],
        )
        for r in batches
    ]
    summary = batches.summary()
    return [
        Table(columns, rows),
        Table([name.capitalize() for name in summary], [list(summary.values())]),
    ]


def _of(right: int, n: int) -> str:
    return f"{right} of {n}" if n else ""


def _figure(row: JsonObject, name: str) -> str:
    scale, digits = (100, 0) if name == "percent" else (1, 2)
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return "not defined"
    shown = f"{scale * value:.{digits}f}"
    return (
        shown if low is None else f"{shown} ({scale * low:.{digits}f} to {scale * high:.{digits}f})"
    )


def _accuracy(row: JsonObject) -> str:
    if row["accuracy"] is None:
        return "not inspected"
    return f"{100 * row['accuracy']:.0f}% ({100 * row['low']:.0f} to {100 * row['high']:.0f})"
