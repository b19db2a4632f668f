"""A fitted decision tree as plain arrays: one entry a node, children behind their parent."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from claimlab.core.errors import DataError
from claimlab.core.stats.scores import Flags, Floats, Floats32, Ints
from claimlab.core.stats.trees import (
    NO_SPLIT,
    Questions,
    grow_with_splits,
    into_values,
    new_says_yes,
)
from claimlab.core.types import JsonObject
from claimlab.detect.learned import Learned

LEAF = -1  # where a node has no children


@dataclass(frozen=True)
class ArrayTree:
    left: Ints
    right: Ints
    feature: Ints
    threshold: Floats
    missing_left: Flags  # where a missing value goes
    shares: Floats  # of each class

    @classmethod
    def grown(cls, matrix: Floats32, y: Ints, classes: int) -> ArrayTree:
        """As an audit grows it, asking about every value: it can show a shortcut, and is too small
        to learn the task.
        """
        codes = into_values(matrix)
        cells, cell = np.unique(codes, axis=0, return_inverse=True)
        questions = Questions.of(cells)
        tally = np.bincount(cell.ravel() * classes + y, minlength=len(cells) * classes)
        _, (splits,) = grow_with_splits(questions, tally.reshape(1, -1, classes))
        tree, size = _Growing(matrix, y, classes), len(cells)
        for parted, question in splits[splits[:, 0] != NO_SPLIT]:
            column = int(questions.column[question])
            level = question - int(np.searchsorted(questions.column, column)) + 1
            new_yes = new_says_yes(int(questions.below[question]), size)
            tree.split(int(parted), column, codes[:, column] >= level, new_yes=new_yes)
        return cls(
            np.array(tree.left, np.int64),
            np.array(tree.right, np.int64),
            np.array(tree.feature, np.int64),
            np.array(tree.threshold, np.float64),
            np.array(tree.missing_left, np.bool_),
            np.stack(tree.shares),
        )

    def predict(self, values: Any) -> Floats:
        """The shares of the classes in the leaf of each row."""
        matrix = np.asarray(values, np.float32)
        node = np.zeros(len(matrix), np.int64)
        while (inner := np.flatnonzero(self.left[node] != LEAF)).size:
            here = node[inner]
            cells = matrix[inner, self.feature[here]]
            goes_left = np.where(
                np.isnan(cells), self.missing_left[here], cells <= self.threshold[here]
            )
            node[inner] = np.where(goes_left, self.left[here], self.right[here])
        return self.shares[node]

    def learned(self) -> JsonObject:
        return asdict(self)

    @classmethod
    def recalled(cls, learned: Learned, classes: int, features: int) -> ArrayTree:
        left = learned.array("left", np.int64, [None])
        n = len(left)
        whole = {name: learned.array(name, np.int64, [n]) for name in ("right", "feature")}
        threshold = learned.array("threshold", np.float64, [n])
        missing_left = learned.array("missing_left", np.bool_, [n])
        shares = learned.array("shares", np.float64, [n, classes])
        tree = cls(left, whole["right"], whole["feature"], threshold, missing_left, shares)
        inner = np.flatnonzero(left != LEAF)
        children, cells = np.stack([left[inner], tree.right[inner]]), tree.feature[inner]
        if (
            n == 0
            or np.any(children <= inner)
            or np.any(children >= n)
            or np.any((cells < 0) | (cells >= features))
        ):
            raise DataError("What a detector learned is not a tree.", "Run the same again.")
        return tree


class _Growing:
    """The nodes of a tree while its splits are made again on the rows."""

    def __init__(self, matrix: Floats32, y: Ints, classes: int) -> None:
        self.matrix, self.y, self.classes = matrix, y, classes
        size = np.bincount(y, minlength=classes)
        self.weight = len(y) / (classes * np.maximum(size, 1))
        self.left: list[int] = []
        self.right: list[int] = []
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.missing_left: list[bool] = []
        self.shares: list[Floats] = []
        self.leaf = np.zeros(len(y), np.int64)
        self.node = [self._leaf_of(np.ones(len(y), np.bool_))]  # of each leaf

    def _leaf_of(self, rows: Flags) -> int:
        y = self.y[rows]
        weights = np.bincount(y, self.weight[y], minlength=self.classes)
        self.left.append(LEAF)
        self.right.append(LEAF)
        self.feature.append(0)
        self.threshold.append(0.0)
        self.missing_left.append(False)
        self.shares.append(weights / weights.sum())
        return len(self.left) - 1

    def split(self, parted: int, column: int, says_yes: Flags, *, new_yes: bool) -> None:
        """Part a leaf; its rows that say no go left."""
        rows, values, node = self.leaf == parted, self.matrix[:, column], self.node[parted]
        yes, no = rows & says_yes, rows & ~says_yes
        missing = np.isnan(values)
        below = values[no & ~missing]
        self.feature[node] = column
        self.threshold[node] = (
            float(below.max()) / 2 + float(values[yes].min()) / 2 if len(below) else -np.inf
        )
        met = bool(missing[rows].any())
        self.missing_left[node] = met or bool(no.sum() > yes.sum())
        self.left[node], self.right[node] = self._leaf_of(no), self._leaf_of(yes)
        self.leaf[yes if new_yes else no] = len(self.node)
        new, old = self.right[node], self.left[node]
        if not new_yes:
            new, old = old, new
        self.node[parted] = old
        self.node.append(new)
