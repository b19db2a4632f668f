"""Pairs kept whole: a true text and the false one aligned with it are both trained on, or both
tested on.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from claimlab.split.material import Material
from claimlab.split.strategies.table import Whole
from claimlab.split.strategy import Impossible, Parts, Request


class Pair(Whole):
    def split(self, material: Material, request: Request) -> Parts:
        rows = pl.DataFrame({"group": material.records["group"], "label": material.labels})
        classes = len(material.classes)
        alike = rows.with_columns(
            (
                pl.col("group").is_not_null()
                & (pl.len().over("group") == classes)
                & (pl.col("label").drop_nulls().n_unique().over("group") == classes)
            ).alias("pair")
        )["pair"]
        if classes < 2 or not alike.any():
            raise Impossible(
                "Cannot split by pair: no value of the column 'group' has exactly one record of"
                " each class.",
                'Split whole groups of any make-up with `by="group"`.',
            )
        units = material.bound(
            self.together if request.keep_together is None else request.keep_together
        )
        parts = self.dealt(material, request, units, alike.to_numpy())
        broken = int((~alike).sum())
        left_out = {"no part of a whole pair": broken} if broken else {}
        return replace(parts, left_out=left_out)


STRATEGY = Pair(
    "pair",
    "Pairs (a group that holds one row of each class) kept whole; broken pairs are left out.",
    ("group", "exact"),
)
