"""Is the label balance the same in every slice (split, language, source, topic, year)?

How strongly two columns of categories are associated: Cramér's V with its interval, groups kept
together.

Chance alone gives a V above zero. How much depends on the size of the table and on the groups: it
is measured on permuted labels and taken off, once from the figure and twice from its resamples,
which draw from a table that chance has already added to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit import fair
from claimlab.audit.check import FairCheck, Findings, noted, sampled
from claimlab.audit.checks.table import grouping
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.interval import Interval, interval, kinds, redraw
from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import excerpt

SLICES = ("split", "language", "topic", "source", "kind")
FACTS = {"year": "time"}  # what the other checks of the same thing call it
MIN_ROWS = 30
WARN_V, FAIL_V = 0.2, 0.5  # Cramér's V


class Balance(FairCheck):
    name = "balance"
    title = "Label balance per slice"
    question = "Is the label balance the same in every slice of the data?"
    rule = (
        f"Over slices of at least {MIN_ROWS} rows: Cramér's V of label and slice, less what"
        f" permuted labels give. Fail when its 95% interval lies above {FAIL_V}, warn when above"
        f" {WARN_V}, pass when below {WARN_V}, otherwise inconclusive. Not measured where shortcuts"
        " are not."
    )

    def measure(self, subject: Subject) -> Findings:
        part = sampled(subject)
        reason = fair.unmeasurable(part)
        if reason is not None and part.given is None:
            yield noted(self.unmeasured(subject, reason), part)
            return
        columns = {c: part.rows[c] for c in SLICES}
        columns["year"] = part.rows["date"].dt.year()
        slices = {name: large_slices(values) for name, values in columns.items()}
        several = {name: s for name, s in slices.items() if s.n_unique() > 1 + s.has_nulls()}
        for name, values in several.items():
            yield self._slice(_asked(part, name, values), name, values)
        if not several:
            yield self.absent(subject, f"No column has two slices of {MIN_ROWS} rows.")

    def _slice(self, subject: Subject, name: str, slices: pl.Series) -> Finding:
        reason = fair.unmeasurable(subject)
        if reason is not None:
            return noted(self.unmeasured(subject, reason, name), subject)
        rows = np.flatnonzero(slices.is_not_null().to_numpy())
        codes = slices.drop_nulls().rank("dense").to_numpy().astype(np.int64) - 1
        few = subject.settings.few
        v, ends = association(fair.deal_of(subject), rows, codes, few)
        low, high = ends
        table = slice_table(subject, slices)
        lopsided = max(table, key=lambda row: float(row["largest_share"]))
        return self.found(
            subject,
            verdict_of(ends),
            f"Label and {name} are associated with Cramér's V {v:.2f} (95% interval {low:.2f} to"
            f" {high:.2f}) over {len(table):,} slices of at least {MIN_ROWS} rows; the most"
            f" one-sided is '{excerpt(lopsided['value'], 60)}' with"
            f" {100 * lopsided['largest_share']:.0f}% of one class.",
            n=len(rows),
            feature=name,
            fact=FACTS.get(name, name),
            details={
                "slices": table[:40],
                "cramers_v": v,
                "v_interval": ends,
                **subject.sampling,
            },
        )


CHECK = Balance()


def _asked(subject: Subject, name: str, slices: pl.Series) -> Subject:
    """The rows, by single records where the slices are what labels were given to, or lie within: it
    is asked about itself."""
    if subject.given is None or grouping(subject, slices, name) == "groups":
        return subject
    return fair.shuffled_freely(subject.ungiven)


def verdict_of(interval: Interval) -> Verdict:
    low, high = interval
    if low > WARN_V:
        return "fail" if low > FAIL_V else "warn"
    return "pass" if high < WARN_V else "inconclusive"


def large_slices(values: pl.Series) -> pl.Series:
    """The slice of every row, null where there is none or it is too small."""
    large = pl.when(pl.len().over("slice") >= MIN_ROWS).then("slice")
    return pl.DataFrame({"slice": values.cast(pl.String)}).select(large)["slice"]


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
                "counts": subject.named(counts),
                "largest_share": round(float(counts.max() / counts.sum()), 4),
            }
        )
    return out


class Association(NamedTuple):
    """`v` is 0 where the two are independent and 1 where one gives the other away."""

    v: float
    interval: Interval


def association(deal: fair.Deal, rows: Ints, slices: Ints, permutations: int) -> Association:
    """Of the labels of `rows` with `slices`, the code of each of those rows."""
    shape = (int(slices.max()) + 1, deal.classes)
    cells = shape[0] * shape[1]

    def tables(labels: npt.NDArray[np.integer]) -> Floats:
        cell = slices * shape[1] + labels[rows]
        return np.bincount(cell, minlength=cells).reshape(shape).astype(np.float64)

    counts = tables(deal.y)
    chance = float(np.mean([phi_squared(tables(deal.permuted(i)[0])) for i in range(permutations)]))
    cells_of_rows = kinds(deal.groups[rows], slices * shape[1] + deal.y[rows], cells)
    drawn = redraw(cells_of_rows, lambda n: phi_squared(n.reshape(-1, *shape)), seed=deal.seed)
    v = float(_v(phi_squared(counts) - chance, counts))
    return Association(
        v, interval(_v(drawn - 2 * chance, counts), cells_of_rows.effective, point=v) or (0.0, 1.0)
    )


def phi_squared(counts: Floats) -> Floats:
    """Chi-squared over n of tables (..., rows, columns)."""
    n = np.maximum(counts.sum(axis=(-2, -1), keepdims=True), 1.0)
    expected = counts.sum(axis=-1, keepdims=True) * counts.sum(axis=-2, keepdims=True) / n
    terms = np.divide(
        (counts - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0
    )
    return np.asarray((terms / n).sum(axis=(-2, -1)))


def _v(phi2: Floats | float, counts: Floats) -> Floats:
    """Cramér's V, with the size of the table corrected for chance as well (Bergsma, 2013)."""
    n, (r, k) = counts.sum(), (int((counts.sum(axis=axis) > 0).sum()) for axis in (1, 0))
    rows, columns = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
    return np.asarray(
        np.sqrt(np.clip(phi2, 0.0, None) / max(1e-12, min(rows - 1, columns - 1))).clip(0.0, 1.0)
    )
