"""Words that few texts hold, but almost all of them in one class: what they say of the rows that
hold them.

Macro-F1 over all rows cannot show them: a word in 8% of one class leaves the other rows as they
are, and a model that uses it scores no better than a guess. So the statistic is over the rows that
hold such a word: how much more often they carry its class than chance has it, in points of all
rows. Words are chosen on the training folds, by association.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from claimlab.audit import fair
from claimlab.audit.check import Context
from claimlab.audit.subject import Subject
from claimlab.core.stats.interval import Interval, interval, kinds, redraw
from claimlab.core.stats.permute import permutation_p
from claimlab.text.telling import leaning, per_class

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OneSided:
    """`excess` is the share of rows that the words get right beyond chance, out of fold; `right` of
    `held` rows.
    """

    excess: float
    interval: Interval
    p: float
    permutations: int
    moved: float
    held: int
    right: int


def one_sided(subject: Subject, presence: Any, context: Context) -> OneSided:
    """What one-sided words tell of the rows that hold them, against permuted labels."""
    settings, classes = context.settings, len(subject.classes)
    deal = fair.deal_of(subject, "groups", settings, context.seed)
    values, held, right = _excess(presence, subject.y, deal.fold[0], classes)
    distinct, cell = np.unique(values, return_inverse=True)
    known = kinds(deal.groups, cell.ravel(), len(distinct))
    drawn = redraw(known, lambda n: n @ distinct / n.sum(axis=1), seed=context.seed)
    point = float(values.mean())
    permuted = np.empty(0)
    while len(permuted) < settings.many:
        more = range(len(permuted), len(permuted) + settings.few)
        permuted = np.append(permuted, [_permuted(presence, deal, i, classes) for i in more])
        if (permuted >= point).sum() or point > 4 * max(float(permuted.std()), float(drawn.std())):
            break
    return OneSided(
        point,
        interval(drawn, known.groups, point=point) or (-1.0, 1.0),
        permutation_p(point, permuted, float(drawn.std())),
        len(permuted),
        deal.moved(settings.few),
        held,
        right,
    )


def _excess(
    presence: Any, labels: Ints, fold: npt.NDArray[np.int8], classes: int
) -> tuple[Floats, int, int]:
    """Per row what it adds to the excess, then how many rows hold a chosen word, and how many of
    those are right.
    """
    base = np.bincount(labels, minlength=classes) / len(labels)
    values, held, right = np.zeros(len(labels)), 0, 0
    for k in range(int(fold.max()) + 1):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        counts = per_class(presence, train, labels[train], classes)
        words, leans = leaning(counts, np.bincount(labels[train], minlength=classes))
        if not len(words):
            continue
        votes = presence[test][:, words].astype(np.int64) @ (leans[:, None] == np.arange(classes))
        rows = np.flatnonzero(votes.sum(axis=1))
        answer = votes[rows].argmax(axis=1)
        hit = answer == labels[test][rows]
        values[test[rows]] = hit - base[answer]
        held, right = held + len(rows), right + int(hit.sum())
    return values, held, right


def _permuted(presence: Any, deal: fair.Deal, number: int, classes: int) -> float:
    labels, fold = deal.permuted(number)
    return float(_excess(presence, labels.astype(np.int64), fold[0], classes)[0].mean())
