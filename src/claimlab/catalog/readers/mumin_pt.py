"""MuMiN-PT: the Portuguese part of MuMiN's claims."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded
from claimlab.catalog.readers import mumin


def load(bundle: Bundle) -> Loaded:
    """The rows whose language field says Portuguese; all rows, with a note, where the file has no
    such field.

    A loader does not guess languages: that is a cleaning step, whose choice and parameters belong
    into the lineage.
    """
    loaded = mumin.load(bundle)
    if loaded.records["language"].null_count() < loaded.records.height:
        loaded.records = loaded.records.filter(pl.col("language") == "por")
    else:
        loaded.notes.append(
            f"These files name no language, so all {loaded.records.height:,} claims are kept. Keep"
            " the Portuguese ones with the recipe pt-afc of: claimlab clean"
        )
    return loaded
