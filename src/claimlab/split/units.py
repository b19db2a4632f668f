"""Strategies that deal whole units of rows by the shares: single rows, groups, clusters, pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from claimlab.core.stats.scores import Flags
from claimlab.split.hold_out import TOGETHER
from claimlab.split.strategy import (
    SIDES,
    UNCELLED,
    Impossible,
    Kept,
    Material,
    Parts,
    SplitRequest,
    drawn_per_cell,
    named,
    numbered,
)

ROWS_PER_CELL = 50


@dataclass(frozen=True)
class WholeUnits:
    """Rows bound by `together` stay on one side; sides get their share of every class and
    language.
    """

    name: str
    summary: str
    together: tuple[Kept, ...] = ()
    takes: frozenset[str] = frozenset({"keep_together"})

    def split(self, material: Material, request: SplitRequest) -> Parts:
        return self.dealt(material, request, np.ones(material.n, np.bool_))

    def dealt(self, material: Material, request: SplitRequest, rows: Flags) -> Parts:
        units = material.bound(request.together(self.together))
        if len(np.unique(units[rows])) < 2:
            if int(rows.sum()) < 2 or not self.together:
                raise Impossible("One row cannot be split.", "Give a dataset with more records.")
            raise Impossible(
                f"A split by {self.name} needs two sets of rows at least; here all rows belong"
                " together.",
                'Use another strategy, such as `by="random"`.',
            )
        shares = request.shares
        side = material.dealt(units, rows, (shares.train, shares.dev, shares.test), request.seed)
        # groups may be too large for a side to come near its share
        used = max(1, side.count())
        notes = [
            f"What belongs together is too large for {name}: it got {100 * got:.1f}% instead of"
            f" {100 * share:.0f}%."
            for name in SIDES
            if (got := (side == name).sum() / used) < (share := getattr(shares, name)) / 2
        ]
        return Parts(side=side, name=self.name, whole=pl.Series(units), notes=tuple(notes))


class WholePairs(WholeUnits):
    """A true text and the false one aligned with it are both trained on, or both tested on."""

    def split(self, material: Material, request: SplitRequest) -> Parts:
        rows = pl.DataFrame({"group": material.records["group"], "label": material.labels})
        classes = len(material.classes)
        one_of_each = pl.col("label").drop_nulls().n_unique().over("group") == classes
        whole = pl.col("group").is_not_null() & (pl.len().over("group") == classes) & one_of_each
        pairs = rows.select(whole).to_series()
        if classes < 2 or not pairs.any():
            raise Impossible(
                "Cannot split by pair: no value of the column 'group' has exactly one record of"
                " each class.",
                'Split whole groups of any make-up with `by="group"`.',
            )
        parts = self.dealt(material, request, pairs.to_numpy())
        return replace(parts, left_out={"no part of a whole pair": int((~pairs).sum())})


@dataclass(frozen=True)
class Balanced:
    """A small test with as many rows of every class in every language; the rest is trained on."""

    name: str
    summary: str
    takes: frozenset[str] = frozenset({"small_test", "keep_together"})

    def split(self, material: Material, request: SplitRequest) -> Parts:
        most = request.small_test or ROWS_PER_CELL
        units = material.bound(request.together(TOGETHER))
        trains = material.only_train
        free = np.ones(material.n, np.bool_) if trains is None else ~trains
        test, notes = drawn_per_cell(material, free, units, most, request.seed, at_most=0.5)
        if not test.any():
            cells = material.labels.is_not_null() & material.records["language"].is_not_null()
            small = "Every cell (class, language) is too small to be halved"
            why = small if cells.any() else UNCELLED.format("row")
            raise Impossible(f"{why}.", 'Use `by="random"` or `by="group"`.')
        mates = np.isin(units, units[test]) & ~test
        side = numbered(material.dealt(units, ~test & ~mates, request.shares.of_rest, request.seed))
        side[test] = 2
        return Parts(
            named(side),
            f"balanced:{most}",
            whole=pl.Series(units),
            left_out={"belongs together with a test row": int(mates.sum())},
            notes=tuple(notes),
        )
