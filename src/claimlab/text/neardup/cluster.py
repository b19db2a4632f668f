"""From pairs to clusters: rows that are joined by a chain of pairs get one label."""

from __future__ import annotations

import numpy as np

from claimlab.text.neardup.results import Rows


def label(left: Rows, right: Rows, total: int) -> Rows:
    """Number the connected components of two rows or more in order of their first row; -1 for the rest."""
    labels = np.full(total, -1, dtype=np.int64)
    if len(left) == 0:
        return labels
    root = _roots(left, right, total)
    joined = np.zeros(total, dtype=bool)
    joined[left] = joined[right] = True
    rows = np.flatnonzero(joined)
    # a root is the least row of its component, so sorted roots stand in order of first appearance
    labels[rows] = np.unique(root[rows], return_inverse=True)[1]
    return labels


def _roots(left: Rows, right: Rows, total: int) -> Rows:
    """For each row the least row of its component: union-find on whole arrays at once.

    Every round points the greater root of each pair at the lesser and then shortens all paths; a pair is done when
    both its ends have one root. Each round at least halves the roots of a component that is not whole yet, or nearly.
    """
    parent = np.arange(total, dtype=np.int64)
    while len(left):
        a, b = parent[left], parent[right]
        apart = a != b
        left, right, a, b = left[apart], right[apart], a[apart], b[apart]
        np.minimum.at(parent, np.maximum(a, b), np.minimum(a, b))
        while True:
            shorter = parent[parent]
            if np.array_equal(shorter, parent):
                break
            parent = shorter
    return parent
