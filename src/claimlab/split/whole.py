"""Strategies that deal whole units of rows by the shares: single rows, groups, clusters, pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.core.stats.deal import Codes
from claimlab.split.material import Flags, Kept, Material
from claimlab.split.shares import SIDES
from claimlab.split.strategy import Impossible, Parts, Request


@dataclass(frozen=True)
class Whole:
    """Rows bound by `together` stay on one side; sides get their share of every class and
    language.
    """

    name: str
    summary: str
    together: tuple[Kept, ...] = ()
    takes: frozenset[str] = frozenset({"keep_together"})

    def split(self, material: Material, request: Request) -> Parts:
        units = material.bound(
            self.together if request.keep_together is None else request.keep_together
        )
        return self.dealt(material, request, units, np.ones(material.n, np.bool_))

    def dealt(self, material: Material, request: Request, units: Codes, rows: Flags) -> Parts:
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
        return Parts(
            side=side, name=self.name, whole=pl.Series(units), notes=tuple(far_off(side, request))
        )


def far_off(side: pl.Series, request: Request) -> list[str]:
    """A note on sides that got less than half of their share, because groups are too large."""
    used = max(1, side.len() - side.null_count())
    got = {name: int((side == name).sum()) / used for name in SIDES}
    wanted = {name: getattr(request.shares, name) for name in SIDES}
    return [
        f"What belongs together is too large for {name}: it got {100 * got[name]:.1f}% instead of"
        f" {100 * share:.0f}%."
        for name, share in wanted.items()
        if got[name] < share / 2
    ]
