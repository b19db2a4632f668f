"""Rationales that cite evidence or an address, and those that cite what was not retrieved. Their
share has the units of the run: records of one publisher are cited for alike."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.stats.interval import Interval, mean_interval, wilson
from claimlab.core.stats.scores import Flags
from claimlab.core.units import Units
from claimlab.evaluate.defend.result import Citations
from claimlab.evaluate.scored_run import predictions_in
from claimlab.text.unit import Unit, unit_names
from claimlab.text.urls import canonical_url, find_urls


def citations(run: Dataset, unit: Unit) -> Citations | None:
    """The rationales that cite evidence or an address, and those that cite what was not retrieved;
    null where none cites anything."""
    answers = predictions_in(run, run.name)
    pattern = r'"unsupported_citations": ?(\d+)'
    strange = answers["meta"].str.extract(pattern).cast(pl.Int64).fill_null(0) > 0
    retrieved_urls: dict[str, set[str | None]] = {}
    if "evidence" in run.tables:
        retrieved = run.tables["evidence"].select("record_id", "url").drop_nulls()
        for record, url in retrieved.iter_rows():
            retrieved_urls.setdefault(record, set()).add(canonical_url(url))
    named = find_urls(answers["rationale"].fill_null("")).to_list()
    outside = [
        any(canonical_url(url) not in retrieved_urls.get(record, ()) for url in urls)
        for record, urls in zip(answers["record_id"], named, strict=True)
    ]
    named_units = run.records.select("id", unit=unit_names(run.records, unit))
    cluster = answers.select(id="record_id").join(named_units, on="id", how="left")["unit"]
    cites = strange | (answers["evidence_ids"].list.len().fill_null(0) > 0)
    cites = cites | pl.Series([bool(urls) for urls in named], dtype=pl.Boolean)
    unsupported = (strange | pl.Series(outside, dtype=pl.Boolean)).filter(cites)
    if not cites.any():
        return None
    units = Units.by(unit.column, cluster.filter(cites))
    hits = int(unsupported.sum())
    return Citations(len(unsupported), hits, _ends(unsupported.to_numpy(), units))


def _ends(flags: Flags, units: Units) -> Interval | None:
    """The interval of the share, from whole units; null with too few of them."""
    if not units.enough:
        return None
    if flags.all() or not flags.any():  # resampling equal values says nothing
        n = int(units.effective)
        return wilson(n if flags.all() else 0, n)
    return mean_interval(flags.astype(np.float64), cluster=units.codes)
