"""Records without a verdict: those that a run left out, and those of which it said that it found no
evidence, or not enough.

In every score these records count as wrong, since a verdict was asked for. Here they are measured
apart: how many they are, what the verdicts are worth that were given, and how sure a run must be
before it speaks. "No evidence" is about the search, "insufficient evidence" about its results.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Unpack

import numpy as np

from claimlab.core.stats.interval import Interval, Resampling
from claimlab.core.stats.scores import Floats, Ints, accuracy, measured_macro_f1, ratio
from claimlab.detect.own_words import ABSTENTIONS
from claimlab.evaluate.confusion import confusion, table_interval
from claimlab.evaluate.metrics.aurc import risk_by_coverage
from claimlab.evaluate.scored_run import ScoredRun


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
    alone. `forgiving_macro_f1` is of all records, with a gap as an answer of no class: so
    scikit-learn and most shared tasks count it. `curve` has risk by coverage where the run gives
    scores.
    """

    kinds: list[Withheld]
    coverage: float
    coverage_interval: Interval | None
    accuracy: float | None
    macro_f1: float | None
    forgiving_macro_f1: float | None = None
    curve: list[tuple[float, float]] = field(default_factory=list)


def abstentions(run: ScoredRun, **how: Unpack[Resampling]) -> Abstentions | None:
    """Null where every record got a verdict."""
    table = run.table
    classes, kinds = run.answers.classes, []
    for kind in ABSTENTIONS:
        truth = table.filter(abstained=kind)["truth"].to_list()
        if truth:
            counted = {name: truth.count(name) for name in classes}
            kinds.append(Withheld(kind, len(truth), len(truth) / table.height, counted))
    k = len(classes)
    counts = confusion(run.answers)
    if not counts[:, k:].any():
        return None
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
        _forgiving(counts),
        risk_by_coverage(run.answers),
    )


def _forgiving(counts: Ints) -> float | None:
    """Macro-F1 where a gap is missed in its class, and no false positive of the others."""
    k = len(counts)
    if (counts.sum(axis=1) > 0).sum() < 2:
        return None
    hits = np.diagonal(counts).astype(np.float64)
    f1 = ratio(2 * hits, counts.sum(axis=1) + counts[:, :k].sum(axis=0), nothing=0.0)
    return float(f1.mean())


def _coverage(counts: Floats, k: int) -> Floats:
    whole = counts.sum(axis=(-2, -1))
    return np.asarray(counts[..., :k].sum(axis=(-2, -1)) / np.maximum(whole, 1))
