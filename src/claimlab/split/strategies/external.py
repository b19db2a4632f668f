"""Another dataset is the test: trained and tuned here, tested on what others collected."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.errors import UsageError
from claimlab.split.hold_out import with_dev
from claimlab.split.material import Material, named
from claimlab.split.strategy import Parts, Request


class External:
    name = "external"
    summary = "This dataset is train and dev, another is test (`external`)."
    takes = frozenset({"keep_together"})

    def split(self, material: Material, request: Request) -> Parts:
        if material.external is None:
            raise UsageError("Which dataset is the test?", "Pass it as `external`.")
        side, notes = with_dev(material, request, ~material.external)
        side[material.external] = 2
        tested = sorted(
            material.records["dataset"].filter(pl.Series(material.external)).unique().to_list()
        )
        return Parts(
            side=named(side),
            name=f"external:test={'+'.join(tested)}",
            apart=pl.Series(np.where(material.external, "the other dataset", "this dataset")),
            held_out=tuple(tested),
            notes=notes,
        )


STRATEGY = External()
