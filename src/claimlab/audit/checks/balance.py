"""Is the label balance the same in every slice (split, language, source, topic, year)?"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from claimlab.audit.check import Context, not_measured
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding, Verdict
from claimlab.pages.excerpt import excerpt

SLICES = ("split", "language", "topic", "source", "kind")
FACTS = {"year": "time"}  # what the other checks of the same thing call it
MIN_ROWS = 30
WARN_V, FAIL_V = 0.2, 0.5  # Cramér's V, bias-corrected


class Balance:
    name = "balance"
    title = "Label balance per slice"
    question = "Is the label balance the same in every slice of the data?"
    protocols = ("fair",)
    rule = (
        f"Over slices of at least {MIN_ROWS} rows: fail when label and slice are associated with a bias-corrected "
        f"Cramér's V of {FAIL_V} or more, warn from {WARN_V}, else pass."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if len(subject.classes) < 2:
            return [not_measured(self.name, "fair", "It needs two classes.", n=subject.n)]
        columns = {c: subject.rows[c] for c in SLICES}
        columns["year"] = subject.rows["date"].dt.year().cast(pl.String)
        found = [f for name, values in columns.items() if (f := self._slice(subject, name, values)) is not None]
        return found or [not_measured(self.name, "fair", f"No column has two slices of {MIN_ROWS} rows.", n=subject.n)]

    def _slice(self, subject: Subject, name: str, values: pl.Series) -> Finding | None:
        table = slice_table(subject, values)
        if len(table) < 2:
            return None
        counts = np.array([[row["counts"][c] for c in subject.classes] for row in table], dtype=np.float64)
        strength = cramers_v(counts)
        verdict: Verdict = "fail" if strength >= FAIL_V else "warn" if strength >= WARN_V else "pass"
        lopsided = max(table, key=lambda row: float(row["largest_share"]))
        return Finding(
            check=self.name,
            protocol="fair",
            verdict=verdict,
            why=f"Label and {name} are associated with Cramér's V {strength:.2f} over {len(table)} slices of at least "
            f"{MIN_ROWS} rows (warn from {WARN_V}, fail from {FAIL_V}); the most one-sided is "
            f"'{excerpt(lopsided['value'], 60)}' with {100 * lopsided['largest_share']:.0f} % of one class.",
            n=int(counts.sum()),
            classes=subject.class_counts,
            feature=name,
            fact=FACTS.get(name, name),
            details={"slices": table[:40], "cramers_v": strength},
        )


def slice_table(subject: Subject, values: pl.Series) -> list[dict[str, Any]]:
    """Class counts per slice, largest first, slices that are too small left out."""
    frame = pl.DataFrame({"slice": values.cast(pl.String), "y": subject.y}).drop_nulls()
    out: list[dict[str, Any]] = []
    for name, part in sorted(frame.group_by("slice"), key=lambda item: (-item[1].height, str(item[0][0]))):
        if part.height < MIN_ROWS:
            continue
        counts = np.bincount(part["y"].to_numpy(), minlength=len(subject.classes))
        out.append(
            {
                "value": excerpt(str(name[0]), 200),
                "counts": {c: int(counts[k]) for k, c in enumerate(subject.classes)},
                "largest_share": round(float(counts.max() / counts.sum()), 4),
            }
        )
    return out


def cramers_v(counts: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Bias-corrected association of slice and label, 0 to 1: chance alone gives about 0 at any size."""
    counts = counts[:, counts.sum(axis=0) > 0]
    n, (r, k) = counts.sum(), counts.shape
    if min(r, k) < 2:
        return 0.0
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / n
    phi2 = float(((counts - expected) ** 2 / expected).sum() / n)
    phi2 = max(0.0, phi2 - (r - 1) * (k - 1) / (n - 1))
    rows, columns = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
    return float(np.sqrt(phi2 / min(rows - 1, columns - 1)))


CHECK = Balance()
