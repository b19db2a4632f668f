"""Another dataset is the test: trained and tuned here, tested on what others collected."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.errors import UsageError
from claimlab.split.material import Kept, Material, named, numbered
from claimlab.split.way import Parts, Request

TOGETHER: tuple[Kept, ...] = ("group", "exact")


class External:
    name = "external"
    summary = "This dataset is train and dev, another is test (--external DIR)."
    takes = frozenset({"keep_together"})

    def split(self, material: Material, request: Request) -> Parts:
        if material.external is None:
            raise UsageError("Which dataset is the test?", "Name its folder with --external DIR.")
        units = material.bound(TOGETHER if request.keep_together is None else request.keep_together)
        side = numbered(material.dealt(units, ~material.external, request.shares.of_rest, request.seed))
        side[material.external] = 2
        tested = sorted(material.records["dataset"].filter(pl.Series(material.external)).unique().to_list())
        return Parts(
            side=named(side),
            name=f"external:test={'+'.join(tested)}",
            apart=pl.Series(np.where(material.external, "the other dataset", "this dataset")),
            held_out=tuple(tested),
        )


WAY = External()
