"""Records of which a run said that it found no evidence, or not enough.

That is no verdict, and no failure either. In every score these records count as wrong, since a
verdict was asked for. Here they are measured apart, and the two kinds apart from each other: "no
evidence" is about the search, "insufficient evidence" about its results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from claimlab.core.stats.interval import Interval, Resampling
from claimlab.core.stats.scores import Floats, accuracy, measured_macro_f1
from claimlab.detect.own_words import ABSTENTIONS
from claimlab.evaluate.confusion import confusion, table_interval
from claimlab.evaluate.scored_run import ScoredRun

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Withheld:
    """One kind of abstention: how often, and of which true classes."""

    kind: str
    n: int
    share: float
    classes: dict[str, int]


@dataclass(frozen=True)
class Abstentions:
    """`coverage` is the share of records that got a verdict; accuracy and macro-F1 are over those
    alone.
    """

    kinds: list[Withheld]
    coverage: float
    coverage_interval: Interval | None
    accuracy: float | None
    macro_f1: float | None


def abstentions(run: ScoredRun, **how: Unpack[Resampling]) -> Abstentions | None:
    """Null when the run never abstained."""
    table = run.table
    classes, kinds = run.answers.classes, []
    for kind in ABSTENTIONS:
        truth = table.filter(abstained=kind)["truth"].to_list()
        if truth:
            counted = {name: truth.count(name) for name in classes}
            kinds.append(Withheld(kind, len(truth), len(truth) / table.height, counted))
    if not kinds:
        return None
    k = len(classes)
    counts = confusion(run.answers)
    verdicts = np.array(counts)
    verdicts[:, k:] = 0  # a verdict is one of the classes
    (covered,) = table_interval(run.answers, lambda counts: _coverage(counts, k), **how)
    spoke = bool(verdicts.sum())
    return Abstentions(
        kinds,
        float(_coverage(counts[None].astype(np.float64), k)[0]),
        covered,
        float(accuracy(verdicts)) if spoke else None,
        measured_macro_f1(verdicts),
    )


def _coverage(counts: Floats, k: int) -> Floats:
    whole = counts.sum(axis=(-2, -1))
    return np.asarray(counts[..., :k].sum(axis=(-2, -1)) / np.maximum(whole, 1))
