"""A rate beside its control on the same records: the difference with its interval, and the verdict
that follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.audit.rule import Rule
from claimlab.core.finding import Verdict
from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.interval import Interval, intervals, wilson
from claimlab.core.stats.scores import Floats

RULE = Rule()


@dataclass(frozen=True)
class Paired:
    """Means over records, each with a 95% interval over whole groups; `p` is of a sign test over
    groups.
    """

    rate: float
    interval: Interval
    control: float
    difference: float
    difference_interval: Interval
    p: float
    verdict: Verdict
    groups: int


def paired(own: Floats, control: Floats, groups: pl.Series, *, seed: int = 0) -> Paired | None:
    """`own` and `control` are values from 0 to 1 of the same records; null with fewer than 20
    groups.
    """
    cluster = codes_of(groups)
    units = len(np.unique(cluster))
    if units < RULE.min_units:
        return None
    pairs, cell = np.unique(np.stack([own, own - control]), axis=1, return_inverse=True)
    rate, difference = intervals(
        cluster,
        np.ravel(cell),
        pairs.shape[1],
        lambda n: n @ pairs.T / n.sum(axis=1)[:, None],
        seed=seed,
    )
    mean, less = float(own.mean()), float((own - control).mean())
    rate, difference = rate or (mean, mean), difference or (less, less)
    if own.min() == own.max():  # resampling equal values says nothing of how sure they are
        rate = wilson(round(mean * units), units) or rate
        shift = mean - less
        difference = (min(difference[0], rate[0] - shift), max(difference[1], rate[1] - shift))
    p = _sign_test(np.bincount(cluster, weights=own - control).astype(np.float64))
    return Paired(
        mean, rate, float(control.mean()), less, difference, p, RULE.verdict(difference, p), units
    )


def _sign_test(differences: Floats) -> float:
    """How likely so many groups above their control would be, if either were as likely."""
    from scipy.stats import binomtest

    above, below = int((differences > 1e-12).sum()), int((differences < -1e-12).sum())
    return (
        float(binomtest(above, above + below, 0.5, alternative="greater").pvalue)
        if above + below
        else 1.0
    )
