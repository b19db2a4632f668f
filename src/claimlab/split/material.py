"""What every strategy works on: the records, their labels, and which rows belong together; each
worked out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.progress import Progress, silent
from claimlab.core.stats.deal import Codes, codes_of, deal, linked
from claimlab.split.shares import SIDES
from claimlab.text.near import NearTexts, near_texts
from claimlab.text.normalise import normal_form

Kept = Literal["group", "exact", "near-duplicates"]
KEPT: tuple[Kept, ...] = get_args(Kept)
Stratum = Literal["label", "language"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Material:
    """`labels` are the task's classes (null: no part of the task). Rows in `only_train` may not be
    tested on.

    One material serves many splits of the same data: what is costly is worked out when it is first
    asked for.
    """

    records: pl.DataFrame
    labels: pl.Series
    classes: tuple[str, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    strata: tuple[Stratum, ...] = STRATA
    only_train: Flags | None = None
    external: Flags | None = None  # rows that come from the other dataset
    progress: Progress = silent

    @property
    def n(self) -> int:
        return self.records.height

    @cached_property
    def normal_text(self) -> pl.Series:
        return normal_form(self.records["text"])

    @cached_property
    def near(self) -> NearTexts:
        return near_texts(self.normal_text, progress=self.progress)

    @cached_property
    def cells(self) -> Codes:
        """A code per row for its class and language: what a stratified split shares out evenly."""
        columns = {"label": self.labels, "language": self.records["language"]}
        if not self.strata:
            return np.zeros(self.n, np.int64)
        chosen = pl.DataFrame([columns[s].alias(s) for s in self.strata])
        return codes_of(chosen.select(pl.struct(pl.all()).rank("dense").alias("cell"))["cell"])

    def bound(self, ties: Iterable[Kept]) -> Codes:
        """A code per row; rows that share one belong together by any of `ties`, or through
        others.
        """
        wanted = set(ties)
        columns = []
        if "group" in wanted:
            columns.append(codes_of(self.records["group"]))
        if "exact" in wanted or "near-duplicates" in wanted:
            columns.append(codes_of(self.normal_text))
        if "near-duplicates" in wanted:
            columns.append(self.near.clusters)
        return linked(columns, self.n) if columns else np.arange(self.n, dtype=np.int64)

    def dealt(self, units: Codes, rows: Flags, shares: Sequence[float], seed: int) -> pl.Series:
        """`rows` assigned to train, dev and test by `shares`, whole units and even cells; other
        rows are null.

        A unit with a row that may only train goes to train.
        """
        first = None if self.only_train is None else self.only_train[rows]
        side = np.full(self.n, -1, np.int64)
        side[rows] = deal(self.cells[rows], units[rows], shares, seed, first=first)
        return named(side)


def named(side: Codes) -> pl.Series:
    """Sides by number (0 train, 1 dev, 2 test, -1 unused) as the column `split` has them."""
    words = np.array([*SIDES, None], dtype=object)
    return pl.Series("split", words[side].tolist(), dtype=pl.String)


def numbered(side: pl.Series) -> Codes:
    """`named`, the other way round."""
    numbers = {name: i for i, name in enumerate(SIDES)}
    return (
        side.replace_strict(numbers, default=-1, return_dtype=pl.Int64)
        .fill_null(-1)
        .to_numpy(writable=True)
    )
