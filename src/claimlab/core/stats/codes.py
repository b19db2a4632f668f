"""Rows as whole numbers: equal values share a code, and rows that are linked through any column
share one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

Codes = npt.NDArray[np.int64]


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
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if n == 0:
        return np.empty(0, np.int64)
    left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for codes in columns:
        order = np.argsort(codes, kind="stable")
        same = codes[order][1:] == codes[order][:-1]
        left.append(order[1:][same])
        right.append(order[:-1][same])
    a, b = np.concatenate(left), np.concatenate(right)
    graph = coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(n, n))
    component: Codes = connected_components(graph, directed=False)[1].astype(np.int64)
    return component
