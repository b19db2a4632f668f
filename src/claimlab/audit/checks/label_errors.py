"""Which labels look wrong? Confident learning on out-of-fold probabilities; the rows are for
annotators to look at.

A row is suspect when a model that did not see it is as sure of another class as it usually is of
rows that carry that label (Northcutt, Jiang and Chuang, "Confident Learning", 2021). A suspect is
not an error, so the check never fails. Whether the model can tell wrong labels from right ones at
all is tried first, on labels that are flipped on purpose.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.check import FairCheck, Findings, noted, sampled
from claimlab.audit.fair import too_few
from claimlab.audit.subject import Subject
from claimlab.audit.text_model import probabilities, vectors
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.codes import Codes
from claimlab.core.stats.interval import mean_interval
from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import Sparse

MAX_ROWS = 3_000
MIN_ROWS = 100
WARN_SHARE = 0.05
PLANTED = 0.05  # of the labels are flipped, to see whether such errors are found
MIN_LIFT = 3.0  # a flipped label must be this much more often suspect than the others
RECORDS_SHOWN = 50


class LabelReview(FairCheck):
    """A check that asks which labels a model of some text calls wrong."""

    def review(
        self, part: Subject, texts: pl.Series, reader: str, feature: str | None = None
    ) -> Finding:
        """`reader` says what the model does, for the sentence."""
        counts, folds = part.class_counts.values(), part.settings.folds
        if part.n < MIN_ROWS or min(counts) < folds:
            why = f"It needs {MIN_ROWS} records, and {folds} of each class."
            return noted(self.unmeasured(part, why, feature), part)
        if (reason := too_few(part, part.units)) is not None:
            return noted(self.unmeasured(part, reason, feature), part)
        matrix = vectors(texts)
        hits, false_alarms = _tried(part, matrix)
        trial = (
            f"of labels flipped on purpose it calls {100 * hits:.0f}% suspect, of the others"
            f" {100 * false_alarms:.0f}%"
        )
        if hits < MIN_LIFT * false_alarms:
            why = (
                f"A text model that {reader} cannot tell wrong labels from right ones here:"
                f" {trial}."
            )
            return self.unmeasured(part, why, feature)
        chances = probabilities(part, matrix)
        rows, classes = suspects(part.y, chances)
        ends = mean_interval(suspect_flags(part, rows), cluster=part.units.codes, seed=part.seed)
        low, high = ends or (0.0, 1.0)
        sure: Verdict = "pass" if high < WARN_SHARE else "inconclusive"
        suspected = [
            {
                "record": part.ids[row],
                "label": part.classes[part.y[row]],
                "suggested": part.classes[other],
                "confidence": round(float(chances[row, other]), 3),
            }
            for row, other in zip(
                rows[:RECORDS_SHOWN].tolist(), classes[:RECORDS_SHOWN].tolist(), strict=True
            )
        ]
        share = len(rows) / part.n
        return self.found(
            part,
            "warn" if low > WARN_SHARE else sure,
            f"A text model that {reader} disagrees confidently with {len(rows):,} of {part.n:,}"
            f" labels ({100 * share:.1f}%, 95% interval {100 * low:.1f} to {100 * high:.1f}"
            f"{_resampled(part)}): rows to review; {trial}.",
            feature=feature,
            records=[part.ids[row] for row in rows.tolist()],
            details={
                "suspects": len(rows),
                "share": share,
                "units": part.units.to_json(),
                "review": suspected,
            },
        )


class LabelErrors(LabelReview):
    name = "label-errors"
    title = "Labels that look wrong"
    question = "Which labels would a model that never saw the row call wrong?"
    rule = (
        f"Warn when surely more than {100 * WARN_SHARE:.0f}% of the labels are suspect (the"
        " interval resamples whole units), pass when surely fewer are, otherwise inconclusive. It"
        " never fails: suspects"
        " are rows to review, not errors."
    )

    needs = ("classes",)

    def measure(self, subject: Subject) -> Findings:
        part = sampled(subject, MAX_ROWS)
        yield (
            self.review(part, part.rows["text"], "did not see the row")
            if part.has_text
            else self.absent(part, "The records have no text.")
        )


CHECK = LabelErrors()


def suspect_flags(part: Subject, rows: Ints) -> Floats:
    """1 for each suspect row, 0 for the others."""
    flags = np.zeros(part.n)
    flags[rows] = 1.0
    return flags


def _resampled(part: Subject) -> str:
    """What the interval resamples, where labels were given to that as a whole, or it is few."""
    units = part.units
    few = ", few units" if units.few else ""
    return f" over {units.words}{few}" if few or part.given is not None else ""


def _tried(part: Subject, matrix: Sparse) -> tuple[float, float]:
    """The share of planted errors that are suspect, and of all other labels."""
    rng, classes = np.random.default_rng(part.seed), len(part.classes)
    flipped = rng.random(part.n) < PLANTED
    others = (part.y + rng.integers(1, classes, part.n)) % classes
    labels = np.where(flipped, others, part.y)
    suspect = np.zeros(part.n, bool)
    suspect[suspects(labels, probabilities(part, matrix, labels))[0]] = True
    return float(suspect[flipped].mean()), float(suspect[~flipped].mean())


def suspects(y: Codes, chances: Floats) -> tuple[Ints, Ints]:
    """Rows whose label looks wrong, surest first, and the class that the model would give them."""
    classes = chances.shape[1]
    usual = np.array([chances[y == k, k].mean() if (y == k).any() else 1.0 for k in range(classes)])
    confident = np.where(chances >= usual - 1e-12, chances, -1.0)
    best = confident.argmax(axis=1)
    suspect = np.flatnonzero((confident.max(axis=1) >= 0) & (best != y))
    margin = chances[suspect, best[suspect]] - chances[suspect, y[suspect]]
    order = np.argsort(-margin, kind="stable")
    return suspect[order], best[suspect][order]
