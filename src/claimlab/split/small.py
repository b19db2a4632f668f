"""A small balanced test: the same number of rows of every class in every language, drawn by the
seed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from claimlab.core.stats.deal import Codes
from claimlab.split.material import Flags, Material

UNCELLED = "No {} has both a class and a language to balance by"


def drawn_per_cell(
    material: Material, eligible: Flags, units: Codes, most: int, seed: int, *, at_most: float = 1.0
) -> tuple[Flags, list[str]]:
    """Up to `most` eligible rows of every class and language, and what to say of cells that had
    fewer.

    Rows that belong together are drawn one after another, so that few are left over. `at_most` is
    the share of a cell that may be taken. A row without a class or a language is in no cell.
    """
    rng = np.random.default_rng(seed)
    unit = np.unique(units, return_inverse=True)[1].ravel()
    turn = rng.permutation(int(unit.max(initial=-1)) + 1)[unit]
    frame = pl.DataFrame(
        {
            "row": np.arange(material.n),
            "label": material.labels,
            "language": material.records["language"],
            "turn": turn,
            "eligible": eligible,
        }
    ).drop_nulls(["label", "language"])
    cell = ["label", "language"]
    room = (pl.len().over(cell) * at_most).floor().clip(upper_bound=most).alias("room")
    ordered = frame.with_columns(room).filter("eligible").sort("turn", "row")
    taken = ordered.filter(pl.col("row").cum_count().over(cell) <= pl.col("room"))
    chosen = np.zeros(material.n, np.bool_)
    chosen[taken["row"].to_numpy()] = True
    return chosen, short_cells(frame, taken, cell, most)


def short_cells(
    frame: pl.DataFrame, taken: pl.DataFrame, cell: Sequence[str], most: int
) -> list[str]:
    have = frame.select(cell).unique().join(taken.group_by(cell).len(), on=cell, how="left")
    short = (
        have.with_columns(pl.col("len").fill_null(0))
        .filter(pl.col("len") < most)
        .sort("language", "label")
    )
    if not short.height:
        return []
    cells = ", ".join(f"{language} {label} {n}" for label, language, n in short.head(8).iter_rows())
    more = ", ..." if short.height > 8 else ""
    return [
        f"{short.height} of {have.height} cells (class, language) have fewer than {most} test rows:"
        f" {cells}{more}."
    ]
