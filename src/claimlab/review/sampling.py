"""A sample of the rows to review, each with its chance: all as likely, the doubtful more likely, or
equal shares of every stratum.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.stats.scores import Floats
from claimlab.core.stats.streams import share_of
from claimlab.review.selection import SelectionOptions


def sampled(
    dataset: Dataset, rows: pl.DataFrame, choice: SelectionOptions, seed: int
) -> pl.DataFrame:
    """As many rows as `sample` says, at random, each with its chance; the least certain are taken
    as they come.
    """
    size, by = choice.get("sample"), choice.get("stratify")
    if size is None or size >= rows.height:
        return rows
    if choice.get("predictions") is not None and choice.get("which") == "uncertain":
        return rows.head(size).with_columns(chance=pl.lit(None, dtype=pl.Float64))
    draws = [share_of(seed, "sample", i, o) for i, o in rows.select("id", "other").iter_rows()]
    ranked = rows.with_row_index("row").with_columns(pl.Series("draw", draws)).sort("draw", "row")
    if by is None:
        drawn = ranked.head(size).with_columns(chance=size / rows.height)
    elif by == "uncertainty":
        drawn = _by_doubt(ranked, size, share_of(seed, "first"))
    else:
        drawn = _in_equal_shares(dataset, ranked, by, size)
    return drawn.sort("row").select(rows.columns)


def _by_doubt(ranked: pl.DataFrame, size: int, first: float) -> pl.DataFrame:
    """Half of the chance is the same for all rows, half grows with the doubt. Steps of one along
    the sum of the chances, from `first` on, draw exactly `size` rows.
    """
    if ranked["uncertainty"].null_count():
        todo = "Review predictions with scores, and all of them."
        raise UsageError("Nothing says how uncertain some of these records are.", todo)
    doubt = ranked["uncertainty"].clip(0.0, 1.0).sqrt().to_numpy()
    even = np.full(len(doubt), 1 / len(doubt))
    share = (even + doubt / doubt.sum()) / 2 if doubt.sum() > 0 else even
    chance = _at_most_one(size * share, size)
    passed = np.floor(np.cumsum(chance) + first + 1e-9)
    taken = np.diff(passed, prepend=np.floor(first)) > 0
    return ranked.with_columns(chance=pl.Series(chance)).filter(pl.Series(taken))


def _at_most_one(chance: Floats, size: int) -> Floats:
    """What is above one is given to the others, in proportion."""
    while (chance > 1).any():
        sure = chance >= 1
        rest = (size - sure.sum()) / chance[~sure].sum()
        chance = np.where(sure, 1.0, chance * rest)
    return chance


def _in_equal_shares(
    dataset: Dataset, ranked: pl.DataFrame, column: str, size: int
) -> pl.DataFrame:
    """The first of every stratum, then the second of every one: shares are equal until a stratum
    has no more.
    """
    stratum = column_values(dataset.records, column).cast(pl.String)
    values = dataset.records.select("id", stratum=stratum)
    turns = ranked.join(values, on="id", how="left", maintain_order="left").with_columns(
        turn=pl.int_range(pl.len()).over("stratum"), of=pl.len().over("stratum")
    )
    drawn = turns.sort("turn", "draw").head(size)
    return drawn.with_columns(chance=pl.len().over("stratum") / pl.col("of"))
