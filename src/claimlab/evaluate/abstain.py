"""Records of which a run said that it found no evidence, or not enough: no verdict, and no failure
either.

In every score they count as wrong, since a verdict was asked for. Here they are looked at apart,
and the two kinds apart from each other: "no evidence" is about the search, "insufficient evidence"
about its results.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.core.stats.interval import DRAWS, Interval
from claimlab.core.stats.scores import Floats, accuracy, measured_macro_f1
from claimlab.evaluate.metrics import confusion, table_interval
from claimlab.evaluate.scored_run import ABSTENTIONS, ScoredRun


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


def abstentions(run: ScoredRun, *, seed: int = 0, draws: int = DRAWS) -> Abstentions | None:
    """Null when the run never abstained."""
    table = run.table
    withheld = [_kind(table, kind, run.answers.classes) for kind in ABSTENTIONS]
    kinds = [w for w in withheld if w.n]
    if not kinds:
        return None
    k = len(run.answers.classes)
    counts = confusion(run.answers)
    verdicts = np.array(counts)
    verdicts[:, k:] = 0  # a verdict is one of the classes
    (covered,) = table_interval(
        run.answers, lambda counts: _coverage(counts, k), seed=seed, draws=draws
    )
    spoke = bool(verdicts.sum())
    return Abstentions(
        kinds,
        float(_coverage(counts[None].astype(np.float64), k)[0]),
        covered,
        float(accuracy(verdicts)) if spoke else None,
        measured_macro_f1(verdicts),
    )


def _kind(table: pl.DataFrame, kind: str, classes: tuple[str, ...]) -> Withheld:
    truth = table.filter(pl.col("abstained") == kind)["truth"].to_list()
    return Withheld(
        kind, len(truth), len(truth) / max(1, table.height), {c: truth.count(c) for c in classes}
    )


def _coverage(counts: Floats, k: int) -> Floats:
    whole = counts.sum(axis=(-2, -1))
    return np.asarray(counts[..., :k].sum(axis=(-2, -1)) / np.maximum(whole, 1))
