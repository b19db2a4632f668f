"""The rows that findings point at, kept with the audit: a bounded number, cut short, so that it can
be shown alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from claimlab.audit.result import Example
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.pages.excerpt import excerpt

PER_FINDING = 12

IN_ALL = 400

TEXT = 300  # characters


def pointed_at(finding: Finding, limit: int = PER_FINDING) -> list[str]:
    """The ids a finding shows first: both sides of its pairs, then the records it names."""
    pairs = [
        i for pair in finding.details.get("pairs", []) for i in (pair["record"], pair["other"])
    ]
    return list(dict.fromkeys([*pairs, *finding.records]))[:limit]


def collect(subject: Subject, findings: Sequence[Finding]) -> list[Example]:
    """The rows that `findings` point at, in the order in which they do."""
    ids = list(dict.fromkeys(i for f in findings for i in pointed_at(f)))[:IN_ALL]
    label = pl.Series(
        "label", np.array([*subject.classes, None], dtype=object)[subject.y], dtype=pl.String
    )
    chosen = pl.DataFrame({"id": ids}, schema={"id": pl.String})
    records = subject.dataset.records.join(chosen, on="id", how="semi")
    rows = records.select("id", "split", pl.col("text").str.slice(0, 4 * TEXT + 17)).join(
        subject.rows.select("id").with_columns(label), on="id", how="left"
    )
    examples = {row["id"]: row for row in rows.iter_rows(named=True)}
    return [_example(examples[i]) for i in ids if i in examples]


def _example(row: dict[str, str | None]) -> Example:
    text, label = row["text"], row["label"]
    return Example(
        id=str(row["id"]),
        label=None if label is None else excerpt(label, 60),
        split=row["split"],
        text=None if text is None else excerpt(text, TEXT),
    )
