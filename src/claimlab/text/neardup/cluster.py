"""From pairs to clusters: rows that are joined by a chain of pairs get one label."""

from __future__ import annotations

import numpy as np

from claimlab.text.neardup.results import Rows


def label(left: Rows, right: Rows, total: int) -> Rows:
    """Number the connected components of two rows or more in order of their first row; -1 for the
    rest.
    """
    labels = np.full(total, -1, dtype=np.int64)
    rows, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    roots = _roots(ends[: len(left)], ends[len(left) :], len(rows))
    # a root is the least row of its component, so sorted roots are in order of first appearance
    labels[rows] = np.unique(roots, return_inverse=True)[1]
    return labels


def _roots(left: Rows, right: Rows, total: int) -> Rows:
    """For each node the least node of its component: union-find on whole arrays at once.

    Each round attaches the greater root of every unconnected pair to the lesser one and then points
    all nodes straight at their roots. Every component that is not whole loses roots in each round,
    usually more than half.
    """
    parent = np.arange(total, dtype=np.int64)
    while len(left):
        a, b = parent[left], parent[right]
        apart = a != b
        left, right, a, b = left[apart], right[apart], a[apart], b[apart]
        np.minimum.at(parent, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(shorter := parent[parent], parent):
            parent = shorter
    return parent
