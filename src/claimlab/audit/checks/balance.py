"""Is the label balance the same in every slice (split, language, source, topic, year)?"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit import fair
from claimlab.audit.association import association
from claimlab.audit.check import Context, not_measured
from claimlab.audit.shortcut import Sampled, noted, sampled
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.pages.excerpt import excerpt

SLICES = ("split", "language", "topic", "source", "kind")
FACTS = {"year": "time"}  # what the other checks of the same thing call it
MIN_ROWS = 30
WARN_V, FAIL_V = 0.2, 0.5  # Cramér's V


class Balance:
    name = "balance"
    title = "Label balance per slice"
    question = "Is the label balance the same in every slice of the data?"
    protocols = ("fair",)
    rule = (
        f"Over slices of at least {MIN_ROWS} rows: Cramér's V of label and slice, less what"
        f" permuted labels give. Fail when its 95% interval lies above {FAIL_V}, warn when above"
        f" {WARN_V}, pass when below {WARN_V}, otherwise inconclusive. Not measured where shortcuts"
        " are not."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context)
        reason = fair.unmeasurable(part.subject, "groups", context.settings, context.seed)
        if reason is not None:
            return [noted(not_measured(self.name, "fair", reason, n=subject.n), part.subject)]
        columns = {c: part.subject.rows[c] for c in SLICES}
        columns["year"] = part.subject.rows["date"].dt.year().cast(pl.String)
        slices = {name: large_slices(values) for name, values in columns.items()}
        findings = [
            self._slice(part, context, name, s)
            for name, s in slices.items()
            if s.n_unique() > 1 + s.has_nulls()
        ]
        return findings or [
            not_measured(
                self.name, "fair", f"No column has two slices of {MIN_ROWS} rows.", n=subject.n
            )
        ]

    def _slice(self, part: Sampled, context: Context, name: str, slices: pl.Series) -> Finding:
        subject = part.subject
        rows = np.flatnonzero(slices.is_not_null().to_numpy())
        codes = slices.drop_nulls().rank("dense").to_numpy().astype(np.int64) - 1
        deal = fair.deal_of(subject, "groups", context.settings, context.seed)
        measured = association(deal, rows, codes, context.settings.few)
        low, high = measured.interval
        table = slice_table(subject, slices)
        lopsided = max(table, key=lambda row: float(row["largest_share"]))
        finding = Finding(
            check=self.name,
            protocol="fair",
            verdict=verdict_of(measured.interval),
            why=(
                f"Label and {name} are associated with Cramér's V {measured.v:.2f} (95% interval"
                f" {low:.2f} to {high:.2f}) over {len(table):,} slices of at least {MIN_ROWS} rows;"
                f" the most one-sided is '{excerpt(lopsided['value'], 60)}' with"
                f" {100 * lopsided['largest_share']:.0f}% of one class."
            ),
            n=len(rows),
            classes=subject.class_counts,
            feature=name,
            fact=FACTS.get(name, name),
            details={
                "slices": table[:40],
                "cramers_v": measured.v,
                "v_interval": measured.interval,
                **part.note,
            },
        )
        return noted(finding, subject)


def verdict_of(interval: Interval) -> Verdict:
    low, high = interval
    if low > WARN_V:
        return "fail" if low > FAIL_V else "warn"
    return "pass" if high < WARN_V else "inconclusive"


def large_slices(values: pl.Series) -> pl.Series:
    """The slice of every row, null where there is none or it is too small."""
    name = pl.col("slice")
    frame = pl.DataFrame({"slice": values.cast(pl.String)})
    return frame.select(pl.when(pl.len().over("slice") >= MIN_ROWS).then(name))["slice"]


def slice_table(subject: Subject, slices: pl.Series) -> list[JsonObject]:
    """Class counts per slice, largest first."""
    frame = pl.DataFrame({"slice": slices, "y": subject.y}).drop_nulls()
    out: list[JsonObject] = []
    for name, part in sorted(
        frame.group_by("slice"), key=lambda item: (-item[1].height, str(item[0][0]))
    ):
        counts = np.bincount(part["y"].to_numpy(), minlength=len(subject.classes))
        out.append(
            {
                "value": excerpt(str(name[0]), 200),
                "counts": {c: int(counts[k]) for k, c in enumerate(subject.classes)},
                "largest_share": round(float(counts.max() / counts.sum()), 4),
            }
        )
    return out


CHECK = Balance()
