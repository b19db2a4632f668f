"""One answer from several annotators: the majority, Dawid and Skene's estimate, and the bounds that
ties leave open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from claimlab.core.stats.scores import Floats, Ints

MOST_ROUNDS = 100
SETTLED = 1e-6  # when the probabilities no longer move
SMOOTH = 0.01  # so that an annotator who never gave an answer can still give it
Answer = TypeVar("Answer", bound=Hashable)


def majority(votes: Sequence[Answer]) -> Answer | None:
    """What most said; null on a tie or without votes."""
    ranked = Counter(votes).most_common(2)
    tied = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
    return None if not ranked or tied else ranked[0][0]


def bounds(shares: Floats) -> tuple[Floats, Floats]:
    """Per unit the lower and the upper reading of the share that said yes: a tie goes down, and up.
    The average of the two is the middle ground."""
    return (shares > 0.5).astype(float), (shares >= 0.5).astype(float)


def dawid_skene(votes: Mapping[str, Mapping[str, str]]) -> dict[str, tuple[str, float]]:
    """The likeliest answer of each unit and its probability, by how reliable each annotator is for
    each answer (Dawid and Skene, 1979, by expectation-maximisation from the vote shares). `votes`
    is unit -> annotator -> answer.
    """
    flat = [
        (unit, who, answer)
        for unit, ratings in sorted(votes.items())
        for who, answer in sorted(ratings.items())
    ]
    if not flat:
        return {}
    (units, unit), (annotators, who), (answers, answer_code) = (
        np.unique(column, return_inverse=True) for column in zip(*flat, strict=True)
    )
    likely = _estimate(unit, who, answer_code, (len(units), len(annotators), len(answers)))
    best = likely.argmax(axis=1)
    return {
        str(name): (str(answers[choice]), float(row[choice]))
        for name, choice, row in zip(units, best, likely, strict=True)
    }


def _estimate(unit: Ints, who: Ints, answer_code: Ints, shape: tuple[int, int, int]) -> Floats:
    """Probabilities (units, answers)."""
    units, annotators, answers = shape
    likely = np.zeros((units, answers))
    np.add.at(likely, (unit, answer_code), 1.0)
    likely /= likely.sum(axis=1, keepdims=True)
    for _ in range(MOST_ROUNDS):
        # What each annotator says (last axis) when the truth is so (middle axis).
        says = np.full((annotators, answers, answers), SMOOTH)
        np.add.at(says.transpose(0, 2, 1), (who, answer_code), likely[unit])
        says /= says.sum(axis=2, keepdims=True)
        log = np.tile(np.log(likely.mean(axis=0) + 1e-12), (units, 1))
        np.add.at(log, unit, np.log(says[who, :, answer_code]))
        new = np.exp(log - log.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        moved, likely = float(np.abs(new - likely).max()), new
        if moved < SETTLED:
            break
    return likely
