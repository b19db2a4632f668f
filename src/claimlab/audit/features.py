"""What a shortcut check feeds a small model: fixed numbers, words chosen on the training rows, or one category.

A feature is asked for in two steps, so that nothing is learnt from rows it will be tested on: `fit` looks at the
training rows only and returns a function that answers for any rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from claimlab.audit.words import per_class

Index = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int64]
Predict = Callable[[Index], Codes]


class Feature(Protocol):
    def fit(self, train: Index, labels: Codes, classes: int, *, seed: int) -> Predict:
        """Learn from the rows `train` with `labels` (one per row of `train`); return the guesser for row indices."""
        ...


@dataclass(frozen=True)
class SmallTree:
    """A decision tree with balanced classes: large enough to show a shortcut, too small to learn the task.

    A forest of such trees scores the same within a point on the real datasets and takes two to six times as long.
    """

    leaves: int = 20
    min_leaf: int = 5
    max_train: int = 20_000

    def fit(
        self, matrix: npt.NDArray[np.float32], train: Index, labels: Codes, *, seed: int
    ) -> Callable[[npt.NDArray[np.float32]], Codes]:
        from sklearn.tree import DecisionTreeClassifier

        if len(train) > self.max_train:
            chosen = np.sort(np.random.default_rng(seed).choice(len(train), self.max_train, replace=False))
            train, labels = train[chosen], labels[chosen]
        model = DecisionTreeClassifier(
            max_leaf_nodes=self.leaves, min_samples_leaf=self.min_leaf, class_weight="balanced", random_state=seed
        )
        model.fit(matrix[train], labels)
        return lambda rows: np.asarray(model.predict(rows), dtype=np.int64)


@dataclass(frozen=True)
class Numbers:
    """Fixed numbers per row (length, case, time). Not-a-number marks a missing value and is a value of its own."""

    matrix: npt.NDArray[np.float32]
    tree: SmallTree = SmallTree()

    def fit(self, train: Index, labels: Codes, classes: int, *, seed: int) -> Predict:  # noqa: ARG002
        guess = self.tree.fit(self.matrix, train, labels, seed=seed)
        return lambda rows: guess(self.matrix[rows])


@dataclass(frozen=True)
class Words:
    """Presence of the `top` words that are most frequent in the training rows, out of many candidate columns."""

    presence: Any  # sparse, rows by words: see audit/words.py
    top: int = 40
    tree: SmallTree = SmallTree()

    def fit(self, train: Index, labels: Codes, classes: int, *, seed: int) -> Predict:
        frequency = per_class(self.presence, train, labels, classes).sum(axis=0)
        chosen = np.sort(np.argsort(-frequency, kind="stable")[: self.top])
        return _on_columns(self.presence, chosen, train, labels, self.tree, seed)


@dataclass(frozen=True)
class Category:
    """One category per row (-1 = missing): guess the class that is over-represented in that category in training.

    Shares are smoothed by one row of the overall distribution, and weighted so that a rare class counts as much as
    a frequent one; a category never met in training falls back to the most over-represented class of none, the first.
    """

    codes: Codes

    def fit(self, train: Index, labels: Codes, classes: int, *, seed: int) -> Predict:  # noqa: ARG002
        size = int(self.codes.max(initial=-1)) + 2
        counts = np.zeros((size, classes))
        np.add.at(counts, (self.codes[train] + 1, labels), 1.0)
        overall = counts.sum(axis=0)
        lift = (counts + overall / max(overall.sum(), 1)) / np.maximum(overall, 1)
        best = lift.argmax(axis=1)
        unseen = counts.sum(axis=1) == 0
        best[unseen] = int(overall.argmax())
        return lambda rows: best[self.codes[rows] + 1].astype(np.int64)


@dataclass(frozen=True)
class Giveaways:
    """Presence of the most one-sided words of the training rows: those at least `ratio` times as usual in one class
    as in the others together, and in at least `support` of the rows of that class."""

    presence: Any  # sparse, rows by words
    top: int = 10
    ratio: float = 8.0
    support: float = 0.02
    tree: SmallTree = SmallTree()

    def chosen(self, train: Index, labels: Codes, classes: int) -> Index:
        """Columns of the giveaway words, most widespread first; none when no word is that one-sided."""
        size = np.bincount(labels, minlength=classes)
        counts = per_class(self.presence, train, labels, classes)
        rate = counts / np.maximum(size, 1)[:, None]
        other = (counts.sum(axis=0) - counts + 0.5) / np.maximum(size.sum() - size, 1)[:, None]
        one_sided = ((rate >= self.support) & (rate >= self.ratio * other)).any(axis=0)
        spread = np.where(one_sided, rate.max(axis=0), 0.0)
        order = np.argsort(-spread, kind="stable")[: self.top]
        return order[spread[order] > 0]

    def fit(self, train: Index, labels: Codes, classes: int, *, seed: int) -> Predict:
        columns = self.chosen(train, labels, classes)
        if len(columns) == 0:
            usual = int(np.bincount(labels, minlength=classes).argmax())
            return lambda rows: np.full(len(rows), usual, np.int64)
        return _on_columns(self.presence, columns, train, labels, self.tree, seed)


def _on_columns(presence: Any, columns: Index, train: Index, labels: Codes, tree: SmallTree, seed: int) -> Predict:
    """A tree on a few columns of a sparse matrix, dense: several times as fast to grow as on sparse input."""
    matrix = presence[:, columns].astype(np.float32).toarray()
    guess = tree.fit(matrix, train, labels, seed=seed)
    return lambda rows: guess(matrix[rows])
