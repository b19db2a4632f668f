"""Rationales that cite evidence or an address, and those that cite what was not retrieved."""

from __future__ import annotations

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.stats.interval import wilson
from claimlab.evaluate.defend.result import Citations
from claimlab.evaluate.scored_run import predictions_in
from claimlab.text.urls import canonical_url, find_urls


def citations(run: Dataset) -> Citations | None:
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
    cites = strange | (answers["evidence_ids"].list.len().fill_null(0) > 0)
    citing = int((cites | pl.Series([bool(urls) for urls in named], dtype=pl.Boolean)).sum())
    unsupported = int((strange | pl.Series(outside, dtype=pl.Boolean)).sum())
    return Citations(citing, unsupported, wilson(unsupported, citing)) if citing else None
