"""Rows as whole numbers: equal values share a code, and rows that are linked through any column
share one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.stats.scores import Ints

Codes = Ints


def codes_of(values: pl.Series) -> Codes:
    """Equal values share a code; every null gets a code of its own, since a missing value links
    nothing.
    """
    rank = values.rank("dense").to_numpy().astype(np.float64) - 1
    missing = np.isnan(rank)
    start = 0 if missing.all() else int(np.nanmax(rank)) + 1
    rank[missing] = start + np.arange(int(missing.sum()))
    return rank.astype(np.int64)


def linked(columns: Sequence[Codes], n: int) -> Codes:
    """Connected components of rows that share a code in any column."""
    left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for codes in columns:
        order = np.argsort(codes, kind="stable")
        same = codes[order][1:] == codes[order][:-1]
        left.append(order[1:][same])
        right.append(order[:-1][same])
    return joined(np.concatenate(left), np.concatenate(right), n)


def joined(left: npt.NDArray[np.integer], right: npt.NDArray[np.integer], n: int) -> Codes:
    """The connected component of each of `n` nodes, in the order of their first nodes, from pairs
    of linked nodes. Each round joins every component to the lowest that it is linked to.
    """
    root = np.arange(n)
    while len(left):
        low, high = np.minimum(root[left], root[right]), np.maximum(root[left], root[right])
        left, right = low[low < high], high[low < high]
        np.minimum.at(root, right, left)
        while (root != (further := root[root])).any():
            root = further
    return np.unique(root, return_inverse=True)[1]
