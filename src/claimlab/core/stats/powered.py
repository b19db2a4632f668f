"""A share of many records from few annotated ones and a cheap judge of all: prediction-powered
inference (Angelopoulos et al., Science 382, 2023; with the fitted slope of PPI++, 2023).

The judge is counted on every record, and the annotated ones say how far it is off: a judge that is
wrong, or always wrong in the same direction, widens the interval and does not move it. The share is
that of these records, so that nothing is assumed about where they come from; what is drawn at
random is which of them are annotated.

The interval is Wilson's, with the number of annotated records that would be needed without the
judge for the same spread. Few annotated records may show no error of a good judge: one error that
was not seen is counted among them. The second interval holds at every look (the asymptotic
confidence sequence of Waudby-Smith et al., Annals of Statistics 52, 2024), so that annotating may
stop as soon as it is narrow enough. bench/estimate_truth.py measures how often both hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf, log, sqrt

import numpy as np

from claimlab.core.stats.interval import LEVEL, Interval
from claimlab.core.stats.scores import Floats

FEWEST_ANNOTATED = 20  # annotated records, below which there is no interval
MOST_SPREAD = 1.5  # of the answers' own: a useless judge cannot do more harm than this
NARROWEST_RECORDS = 100  # annotated records at which the second interval is narrowest


@dataclass(frozen=True)
class JudgedSample:
    """The annotated records: what annotators answered (1 or 0), what the judge answers, and how
    likely it was that each was drawn (any multiple of it). `population` records were judged, and
    the judge says 1 of the share `judged`.
    """

    human: Floats
    judge: Floats
    chance: Floats
    population: int
    judged: float

    def __len__(self) -> int:
        return len(self.human)

    @property
    def weight(self) -> Floats:
        weight = 1 / self.chance
        return np.asarray(weight / weight.sum())


@dataclass(frozen=True)
class EstimatedShare:
    """An estimated share with its interval, and the interval that holds at every look."""

    value: float
    interval: Interval
    always: Interval

    @property
    def width(self) -> float:
        return self.interval[1] - self.interval[0]


def powered(sample: JudgedSample) -> EstimatedShare:
    """The share by annotators and judge together."""
    slope = _slope(sample)
    weight, rest = sample.weight, sample.human - slope * sample.judge
    centre = float(weight @ rest)
    # in units of one record: the equal weights of a simple sample are 1
    errors = len(sample) * weight * (rest - centre)
    spread = (float(errors @ errors) + 1) / (len(sample) - 1)
    return _share(sample, slope * sample.judged + centre, spread)


def alone(sample: JudgedSample) -> EstimatedShare:
    """The share by annotators without the judge."""
    weight = sample.weight
    value = float(weight @ sample.human)
    return _share(sample, value, _unequal(sample) * value * (1 - value))


def needed(sample: JudgedSample, width: float) -> int:
    """How many annotated records make the interval that holds at every look as narrow as `width`,
    if the rest is like those at hand.
    """
    low, high = powered(sample).always
    return min(sample.population, int(np.ceil(len(sample) * ((high - low) / width) ** 2)))


def _slope(sample: JudgedSample) -> float:
    """How much of the judge to use: least squares of the annotators' answers on the judge's."""
    weight = sample.weight
    judge = sample.judge - weight @ sample.judge
    spread = float(weight @ judge**2)
    return float(weight @ (judge * sample.human)) / spread if spread > 0 else 0.0


def _unequal(sample: JudgedSample) -> float:
    """By how much unequal chances widen an interval (Kish's design effect)."""
    return float(len(sample) * (sample.weight**2).sum())


def _share(sample: JudgedSample, value: float, spread: float) -> EstimatedShare:
    value = min(max(value, 0.0), 1.0)
    size = len(sample)
    if size < FEWEST_ANNOTATED:
        return EstimatedShare(value, (0.0, 1.0), (0.0, 1.0))
    answers = float(sample.weight @ sample.human)
    own = answers * (1 - answers)
    ratio = min(spread / own, MOST_SPREAD * _unequal(sample)) if own > 0 else _unequal(sample)
    left = 1 - size / sample.population
    like = size / ratio / left if left > 0 and ratio > 0 else inf
    quantile = _quantile(size - 2)
    half = _always(size) * sqrt(max(spread, 1 / size))
    always = (max(0.0, value - half), min(1.0, value + half)) if left > 0 else (value, value)
    return EstimatedShare(value, _wilson(value, like, quantile), always)


@cache
def _quantile(freedom: int) -> float:
    from scipy.special import stdtrit  # what scipy.stats calls, without its second of imports

    return float(stdtrit(freedom, (1 + LEVEL) / 2))


def _wilson(value: float, size: float, quantile: float) -> Interval:
    if size == inf:
        return value, value
    squared = quantile**2 / size
    middle = (value + squared / 2) / (1 + squared)
    half = quantile * sqrt(value * (1 - value) / size + squared / (4 * size)) / (1 + squared)
    return max(0.0, middle - half), min(1.0, middle + half)


def _always(size: int) -> float:
    """Half the width of the confidence sequence after `size` records, in standard deviations."""
    error = 1 - LEVEL
    scale = (-2 * log(error) + log(-2 * log(error)) + 1) / NARROWEST_RECORDS
    grown = size * scale + 1
    return sqrt(2 * grown / (size**2 * scale) * log(sqrt(grown) / error))
