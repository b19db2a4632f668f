"""A fitted decision tree as plain arrays: one entry a node, children behind their parent."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject
from claimlab.detect.learned import Learned

Floats = npt.NDArray[np.float64]
LEAF = -1  # where a node has no children


@dataclass(frozen=True)
class Tree:
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    feature: npt.NDArray[np.int64]
    threshold: Floats
    missing_left: npt.NDArray[np.bool_]  # where a missing value goes
    shares: Floats  # of each class

    @classmethod
    def of(cls, model: Any) -> Tree:
        """The tree of a fitted `DecisionTreeClassifier`."""
        tree = model.tree_
        return cls(
            tree.children_left.astype(np.int64),
            tree.children_right.astype(np.int64),
            tree.feature.astype(np.int64),
            tree.threshold.astype(np.float64),
            tree.missing_go_to_left.astype(np.bool_),
            np.ascontiguousarray(tree.value[:, 0, :], np.float64),
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
    def recalled(cls, learned: Learned, classes: int, features: int) -> Tree:
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
