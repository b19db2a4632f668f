"""Results that an organiser should look at: the same answers under two names, nearly the same
errors, and scores that are hardly possible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from claimlab.core.stats.scores import Ints

PLAUSIBLE_ACCURACY = 0.99  # above which a score is looked at
SHARED_ERRORS, FEWEST_ERRORS = 0.9, 10  # of two results: the share that they have in common


def remarks(
    truth: Ints,
    said: Sequence[Ints],
    names: Sequence[str],
    *,
    plausible: float = PLAUSIBLE_ACCURACY,
    compared: Callable[[int, int], bool] | None = None,
) -> list[list[str]]:
    """What is to be said of each result on the same records; a record without an answer is -1.
    `compared` tells which pairs are looked at, all by default."""
    out: list[list[str]] = [[] for _ in names]
    for number, answers in enumerate(said):
        accuracy = float((answers == truth).mean()) if len(truth) else 0.0
        if accuracy >= plausible:
            out[number].append(f"implausible: {100 * accuracy:.1f}% of all answers are right")
    for a, b in combinations(range(len(names)), 2):
        if compared is not None and not compared(a, b):
            continue
        if words := _alike(truth, said[a], said[b]):
            out[a].append(f"{words} {names[b]}")
            out[b].append(f"{words} {names[a]}")
    return out


def _alike(truth: Ints, first: Ints, second: Ints) -> str:
    """How alike two results are, where that is too much; right answers tell nothing. Records that
    one of them leaves out tell nothing either: a copy may have gaps."""
    same = first == second
    if same.all():
        return "the same answers as"
    wrong = [answers != truth for answers in (first, second)]
    either = (wrong[0] | wrong[1]) & (first >= 0) & (second >= 0)
    common = wrong[0] & wrong[1] & same & either
    if either.sum() < FEWEST_ERRORS or common.sum() < SHARED_ERRORS * either.sum():
        return ""
    return (
        f"{100 * common.sum() / either.sum():.0f}% of the errors (of {either.sum():,}) are those of"
    )
