"""Which hops are put before judges: whole traces at random, each at chosen hops."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.errors import UnknownName

GRID = (1, 2, 3, 5, 10, 15, 20, 25, 30)  # the hops that are judged, and each trace's last


def which_hops(words: str) -> pl.Expr:
    """The hops that judges are asked about: 'last', 'all', 'every:N' or 'spread' (GRID); the last
    of a trace is always among them.
    """
    hop, last = pl.col("hop"), pl.col("hop") == pl.col("hops")
    choices = {"last": last, "all": hop > 0, "spread": last | hop.is_in(GRID)}
    name, _, number = words.partition(":")
    if name == "every" and number.isdecimal() and int(number):
        return last | (hop % int(number) == 0)
    if words not in choices:
        raise UnknownName("choice of hops", words, [*choices, "every:N"])
    return choices[words]


def sample_hops(hops: pl.DataFrame, most: int, seed: int, which: str = "spread") -> pl.DataFrame:
    """Whole traces at random, each at the hops that `which` names, until `most` hops are drawn."""
    wanted = hops.filter(which_hops(which)).drop_nulls(["base", "output"])
    traces = wanted.select("run", "trace_id").unique().sort("run", "trace_id")
    order = np.random.default_rng(seed).permutation(traces.height)
    ranked = traces.with_columns(pl.Series("lot", np.argsort(order)))
    drawn = wanted.join(ranked, on=["run", "trace_id"]).sort("lot", "hop")
    return drawn.head(most).sort("run", "trace_id", "hop").drop("lot")
