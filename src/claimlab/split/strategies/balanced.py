"""A small test with as many rows of every class in every language, and all the rest to train on."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.split.material import UNCELLED, Kept, Material, drawn_per_cell, named, numbered
from claimlab.split.strategy import Impossible, Parts, Request

MOST = 50
TOGETHER: tuple[Kept, ...] = ("group", "exact")


class Balanced:
    name = "balanced"
    summary = (
        "A small test, 50 rows per class and language (`small_test`); at most half of what"
        " there is."
    )
    takes = frozenset({"small_test", "keep_together"})

    def split(self, material: Material, request: Request) -> Parts:
        most = request.small_test or MOST
        units = material.bound(TOGETHER if request.keep_together is None else request.keep_together)
        free = (
            np.ones(material.n, np.bool_) if material.only_train is None else ~material.only_train
        )
        test, notes = drawn_per_cell(material, free, units, most, request.seed, at_most=0.5)
        if not test.any():
            small = bool(
                (material.labels.is_not_null() & material.records["language"].is_not_null()).any()
            )
            why = (
                "Every cell (class, language) is too small to be halved"
                if small
                else UNCELLED.format("row")
            )
            raise Impossible(f"{why}.", 'Use `by="random"` or `by="group"`.')
        mates = np.isin(units, units[test]) & ~test
        side = numbered(material.dealt(units, ~test & ~mates, request.shares.of_rest, request.seed))
        side[test] = 2
        left_out = {"belongs together with a test row": int(mates.sum())} if mates.any() else {}
        whole = pl.Series(units)
        return Parts(
            named(side), f"balanced:{most}", whole=whole, left_out=left_out, notes=tuple(notes)
        )


STRATEGY = Balanced()
