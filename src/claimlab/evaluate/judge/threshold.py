"""The contradiction score at which a rationale counts as wrong: fitted on cases that annotators
judged.

A threshold that was chosen on the cases it is then measured on flatters itself. So each case is
also judged by the threshold that the other cases give (leave one out), and that is the figure that
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from claimlab.core.stats.agreement import compared
from claimlab.core.types import JsonObject
from claimlab.evaluate.judge.people import NOT_WRONG, WRONG

DEFAULT = 4.0  # without annotations: the published value, chosen on another dataset
LEAST = 3  # cases of each kind, under which a threshold is not fitted


@dataclass(frozen=True)
class Fit:
    """`chosen` is used from here on. `held_out` is leave-one-out; `inside` is on the cases it was
    fitted on.
    """

    chosen: float
    fitted: bool
    wrong: int
    not_wrong: int
    held_out: JsonObject
    inside: JsonObject

    def to_json(self) -> JsonObject:
        return asdict(self)


def fit(scores: Sequence[float], truth: Sequence[str]) -> Fit:
    """Fit on cases that people called wrong or not wrong. With too few of either kind the default
    stays, and the cases only measure it."""
    wrong, fine = list(truth).count(WRONG), list(truth).count(NOT_WRONG)
    enough = min(wrong, fine) >= LEAST
    chosen = best(scores, truth) if enough else DEFAULT
    inside = measured([verdict(s, chosen) for s in scores], truth)
    if not enough:
        return Fit(chosen, False, wrong, fine, inside, inside)
    left = [
        best([*scores[:i], *scores[i + 1 :]], [*truth[:i], *truth[i + 1 :]])
        for i in range(len(scores))
    ]
    held_out = measured([verdict(s, t) for s, t in zip(scores, left, strict=True)], truth)
    return Fit(chosen, True, wrong, fine, held_out, inside)


def best(scores: Sequence[float], truth: Sequence[str]) -> float:
    """The threshold of the best balanced accuracy, half-way between two scores; of equals the
    nearest to 4.
    """
    values = sorted(set(scores))
    between = [(a + b) / 2 for a, b in pairwise(values)] or [DEFAULT]
    ranked = [
        (-balanced([verdict(s, t) for s in scores], truth), abs(t - DEFAULT), t) for t in between
    ]
    return min(ranked)[2]


def verdict(score: float, threshold: float) -> str:
    return WRONG if score >= threshold else NOT_WRONG


def measured(verdicts: Sequence[str], truth: Sequence[str]) -> JsonObject:
    """Agreement with annotators, with kappa and balanced accuracy, which do not reward a constant
    answer.
    """
    both = {WRONG, NOT_WRONG} <= set(truth)
    return {
        **compared(verdicts, truth),
        "balanced_accuracy": round(balanced(verdicts, truth), 4) if both else None,
    }


def balanced(verdicts: Sequence[str], truth: Sequence[str]) -> float:
    shares = []
    for kind in (WRONG, NOT_WRONG):
        mine = [s for s, t in zip(verdicts, truth, strict=True) if t == kind]
        shares += [sum(s == kind for s in mine) / len(mine)] if mine else []
    return sum(shares) / len(shares) if shares else 0.0
