"""What a score means where the classes are not as frequent as in the test: of 1,000 records, how
many would be flagged, how many of these rightly, and how many would be missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from claimlab.core.errors import UsageError
from claimlab.core.stats.interval import Interval, Resampling
from claimlab.core.stats.scores import Floats, filled, ratio
from claimlab.evaluate.confusion import confusion, table_interval
from claimlab.evaluate.metrics.table_scores import positive_of
from claimlab.evaluate.scored_run import ScoredRun

OF = 1_000  # records


@dataclass(frozen=True)
class InUse:
    """A run where `prevalence` of the records are `positive`. `precision` is a share; `alarms` and
    `misses` are records in 1,000."""

    prevalence: float
    positive: str
    precision: float | None  # null where nothing would be flagged
    precision_interval: Interval | None
    alarms: float
    alarms_interval: Interval | None
    misses: float
    misses_interval: Interval | None

    def sentence(self) -> str:
        """All of it in words."""
        flagged = f"{self.alarms:.0f}{_span(self.alarms_interval)} would be flagged"
        rightly = ""
        if self.precision is not None:
            span = _span(self.precision_interval, 100)
            rightly = f", {100 * self.precision:.1f}%{span} of them rightly"
        missed = f"{self.misses:.1f}{_span(self.misses_interval)} of the {OF * self.prevalence:.0f}"
        return (
            f"Where {100 * self.prevalence:g}% are {self.positive}: of {OF:,} records {flagged}"
            f"{rightly}, and {missed} {self.positive} ones missed."
        )


def _span(interval: Interval | None, times: float = 1.0) -> str:
    return "" if interval is None else f" ({times * interval[0]:.1f} to {times * interval[1]:.1f})"


def in_use(run: ScoredRun, prevalence: float, **how: Unpack[Resampling]) -> InUse | None:
    """Null where the run has not two classes, or no answer. A record without an answer has the
    wrong one, as in the scores."""
    if not 0 < prevalence < 1:
        raise UsageError(f"`prevalence` is {prevalence:g}.", "Give a share between 0 and 1: 0.03.")
    answers = run.answers
    positive = positive_of(answers)
    if positive is None or not answers.answered:
        return None
    place = answers.classes.index(positive)

    def figures(counts: Floats) -> Floats:
        table = filled(counts)
        flagged = ratio(table[..., place], table.sum(axis=-1), nothing=np.nan)
        caught, alarmed = flagged[..., place], flagged[..., 1 - place]
        hits = prevalence * caught
        alarms = hits + (1 - prevalence) * alarmed
        misses = prevalence - hits
        return np.stack([ratio(hits, alarms, nothing=np.nan), OF * alarms, OF * misses], axis=-1)

    precision, alarms, misses = figures(confusion(answers)[None].astype(np.float64))[0].tolist()
    ends = table_interval(answers, figures, **how)
    return InUse(
        prevalence,
        positive,
        None if np.isnan(precision) else precision,
        ends[0],
        alarms,
        ends[1],
        misses,
        ends[2],
    )
