"""Risk and coverage: how often the surest answers are wrong, as less sure ones are added.

A detector that may decline is judged by its risk at each coverage (El-Yaniv and Wiener 2010), and
by the area below that curve. It is of the answered records: "answered 1,711 of 2,140" belongs next
to it, and runs are not ranked by it.
"""

from __future__ import annotations

import numpy as np

from claimlab.core.stats.scores import Floats, Ints, ratio
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.confusion import Cells
from claimlab.evaluate.metric import MetricValue, ScoreMetric
from claimlab.evaluate.metrics.table_scores import MOST_SCORES

POINTS_KEPT = 100  # of a curve, on a page


def _sure(answers: Answers) -> tuple[Ints, Floats]:
    """The records with a verdict and its score, and these scores: how sure the run was of what it
    said."""
    assert answers.scores is not None
    spoke = np.flatnonzero(answers.guess < len(answers.classes))
    sure = answers.scores[spoke, answers.guess[spoke]]
    there = ~np.isnan(sure)
    return spoke[there], sure[there]


def _unmeasured(answers: Answers) -> str | None:
    if answers.scores is None:
        return answers.unscored
    rows, _ = _sure(answers)
    if not len(rows):
        return "No answer has a score."
    scores = answers.scores[rows]
    return "Every record has the same scores." if (scores == scores[0]).all() else None


def _places(sure: Floats) -> tuple[Ints, int]:
    """The place of each answer, the surest first; equal ones share a place."""
    distinct, place = np.unique(-sure, return_inverse=True)
    if len(distinct) <= MOST_SCORES:
        return np.asarray(place), len(distinct)
    return np.asarray(place * MOST_SCORES // len(distinct)), MOST_SCORES


def _tables(answers: Answers) -> tuple[Ints, Ints, int]:
    """The records that count, the cell of each by place and by whether it is right, and how many
    places there are."""
    rows, sure = _sure(answers)
    place, places = _places(sure)
    return rows, place * 2 + answers.right[rows], places


def _risks(counts: Floats) -> tuple[Floats, Floats]:
    """Answers up to each place, and the share of them that is wrong (tables, places)."""
    answered = counts.sum(axis=-1).cumsum(axis=-1)
    return answered, ratio(counts[..., 0].cumsum(axis=-1), answered, nothing=0.0)


def _areas(counts: Floats) -> Floats:
    """The mean risk over the answers (tables, places, 2), at the coverage of each."""
    answered, risk = _risks(counts)
    return ratio((counts.sum(axis=-1) * risk).sum(axis=-1), answered[..., -1], nothing=np.nan)


def area(answers: Answers) -> MetricValue:
    """The area under risk and coverage of the answered records."""
    if why := _unmeasured(answers):
        return MetricValue(why=why)
    return MetricValue(_area_cells(answers).of_all())


def _area_cells(answers: Answers) -> Cells:
    rows, cell, places = _tables(answers)
    every = np.full(answers.n, 2 * places)
    every[rows] = cell
    return Cells(
        every,
        2 * places + 1,
        lambda counts: _areas(counts[:, :-1].reshape(len(counts), places, 2)),
    )


def risk_by_coverage(answers: Answers) -> list[tuple[float, float]]:
    """Coverage of all records and risk of what is answered, at most a hundred points; empty where
    the scores say nothing of it."""
    if _unmeasured(answers):
        return []
    _, cell, places = _tables(answers)
    counts = np.bincount(cell, minlength=2 * places).reshape(places, 2).astype(np.float64)
    answered, risk = _risks(counts)
    kept = np.unique(np.linspace(0, places - 1, POINTS_KEPT).round().astype(np.int64))
    return [(float(answered[n] / answers.n), float(risk[n])) for n in kept]


METRIC = ScoreMetric(
    name="aurc",
    title="area under risk and coverage",
    place=65,
    summary="The mean share of wrong answers as answers are added, the surest first.",
    figure=area,
    counted=_area_cells,
    gaps="left-out",
    higher_is_better=False,
)
