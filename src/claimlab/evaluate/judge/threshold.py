"""The contradiction score at which a rationale counts as wrong.

It is fitted on cases that annotators judged. A threshold that was chosen on the cases it is then
measured on flatters itself. So each case is also judged by the threshold that the other cases give
(leave one out), and that is the figure that counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from claimlab.core.types import JsonObject
from claimlab.evaluate.judge.people import NOT_WRONG, WRONG, balanced, measured

DEFAULT_THRESHOLD = 4.0  # without annotations: the published value, chosen on another dataset
LEAST_CASES = 3  # cases of each kind, under which a threshold is not fitted


@dataclass(frozen=True)
class ThresholdFit:
    """`chosen` is used from here on. `held_out` is leave-one-out; `inside` is on the cases it was
    fitted on.
    """

    chosen: float
    fitted: bool
    wrong: int
    not_wrong: int
    held_out: JsonObject
    inside: JsonObject


def fit(scores: Sequence[float], truth: Sequence[str]) -> ThresholdFit:
    """Fit on cases that people called wrong or not wrong. With too few of either kind the default
    stays, and the cases only measure it."""
    wrong, fine = list(truth).count(WRONG), list(truth).count(NOT_WRONG)
    enough = min(wrong, fine) >= LEAST_CASES
    chosen = best(scores, truth) if enough else DEFAULT_THRESHOLD
    inside = measured([verdict(s, chosen) for s in scores], truth)
    if not enough:
        return ThresholdFit(chosen, False, wrong, fine, inside, inside)
    left = [
        best([*scores[:i], *scores[i + 1 :]], [*truth[:i], *truth[i + 1 :]])
        for i in range(len(scores))
    ]
    held_out = measured([verdict(s, t) for s, t in zip(scores, left, strict=True)], truth)
    return ThresholdFit(chosen, True, wrong, fine, held_out, inside)


def best(scores: Sequence[float], truth: Sequence[str]) -> float:
    """The threshold of the best balanced accuracy, half-way between two scores; of equals the
    nearest to 4.
    """
    values = sorted(set(scores))
    between = [(a + b) / 2 for a, b in pairwise(values)] or [DEFAULT_THRESHOLD]
    ranked = [
        (-balanced([verdict(s, t) for s in scores], truth), abs(t - DEFAULT_THRESHOLD), t)
        for t in between
    ]
    return min(ranked)[2]


def verdict(score: float, threshold: float) -> str:
    return WRONG if score >= threshold else NOT_WRONG
