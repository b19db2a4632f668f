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

from claimlab.audit.check import Context, not_measured
from claimlab.audit.shortcut import FairCheck, noted, sampled
from claimlab.audit.subject import Subject
from claimlab.audit.text_model import probabilities
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.deal import Codes
from claimlab.core.stats.interval import wilson
from claimlab.core.stats.scores import Floats, Ints

MAX_ROWS = 3_000
MIN_ROWS = 100
WARN_SHARE = 0.05
PLANTED = 0.05  # of the labels are flipped, to see whether such errors are found
MIN_LIFT = 3.0  # a flipped label must be this much more often suspect than the others
SHOWN = 50


class LabelErrors(FairCheck):
    name = "label-errors"
    title = "Labels that look wrong"
    question = "Which labels would a model that never saw the row call wrong?"
    rule = (
        f"Warn when surely more than {100 * WARN_SHARE:.0f}% of the labels are suspect (Wilson"
        " interval), pass when surely fewer are, otherwise inconclusive. It never fails: suspects"
        " are rows to review, not errors."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if len(subject.classes) < 2:
            return [self.unmeasured("It needs two classes.", subject.n)]
        part = sampled(subject, context, MAX_ROWS).subject
        if not part.has_text:
            return [self.unmeasured("The records have no text.", part.n)]
        return [review(self.name, part, context, part.rows["text"], reader="did not see the row")]


def review(
    check: str,
    part: Subject,
    context: Context,
    texts: pl.Series,
    *,
    reader: str,
    feature: str | None = None,
) -> Finding:
    """The labels that a model of `texts` calls wrong; `reader` says what the model does, for the
    sentence.
    """
    counts = np.bincount(part.y, minlength=len(part.classes))
    if part.n < MIN_ROWS or counts.min() < context.settings.folds:
        why = f"It needs {MIN_ROWS} records, and {context.settings.folds} of each class."
        return noted(not_measured(check, "fair", why, n=part.n, feature=feature), part)
    hits, false_alarms = _tried(part, context, texts)
    trial = (
        f"of labels flipped on purpose it calls {100 * hits:.0f}% suspect, of the others"
        f" {100 * false_alarms:.0f}%"
    )
    if hits < MIN_LIFT * false_alarms:
        why = f"A text model that {reader} cannot tell wrong labels from right ones here: {trial}."
        return not_measured(check, "fair", why, n=part.n, feature=feature)
    chances = probabilities(part, context, texts)
    rows, classes = suspects(part.y, chances)
    interval = wilson(len(rows), part.n)
    assert interval is not None
    verdict: Verdict = (
        "warn"
        if interval[0] > WARN_SHARE
        else "pass"
        if interval[1] < WARN_SHARE
        else "inconclusive"
    )
    suspected = [
        {
            "record": part.ids[row],
            "label": part.classes[part.y[row]],
            "suggested": part.classes[other],
            "confidence": round(float(chances[row, other]), 3),
        }
        for row, other in zip(rows[:SHOWN].tolist(), classes[:SHOWN].tolist(), strict=True)
    ]
    low, high = (100 * end for end in interval)
    finding = Finding(
        check=check,
        protocol="fair",
        verdict=verdict,
        why=(
            f"A text model that {reader} disagrees confidently with {len(rows):,} of {part.n:,}"
            f" labels ({100 * len(rows) / part.n:.1f}%, 95% interval {low:.1f} to {high:.1f}): rows"
            f" to review; {trial}."
        ),
        n=part.n,
        classes=part.class_counts,
        feature=feature,
        records=[part.ids[row] for row in rows.tolist()],
        details={"suspects": len(rows), "share": len(rows) / part.n, "review": suspected},
    )
    return noted(finding, part)


def _tried(part: Subject, context: Context, texts: pl.Series) -> tuple[float, float]:
    """The share of planted errors that are suspect, and of all other labels."""
    rng = np.random.default_rng(context.seed)
    flipped = rng.random(part.n) < PLANTED
    labels = np.where(
        flipped, (part.y + rng.integers(1, len(part.classes), part.n)) % len(part.classes), part.y
    )
    suspect = np.zeros(part.n, bool)
    suspect[suspects(labels, probabilities(part, context, texts, labels))[0]] = True
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


CHECK = LabelErrors()
