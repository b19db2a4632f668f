"""MuMiN: claims of fact-checkers in many languages."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, languages

MASKS = {"train": "train_mask", "dev": "val_mask", "test": "test_mask"}


def load(bundle: Bundle) -> Loaded:
    """One JSON object per claim; three masks say the split. A `language` field is used where a
    release has one.
    """
    raw = Table.read(bundle, bundle.one("claims_*.jsonl", "*.jsonl"))
    records = raw.frame.select(
        text=raw.need("claim"),
        kind=pl.lit("claim"),
        label_raw=raw.need("verdict"),
        language=languages(raw.maybe("language")),
        split=pl.coalesce(
            pl.when(raw.need(mask) == "true").then(pl.lit(split)) for split, mask in MASKS.items()
        ),
        meta=raw.meta(["claim_en"]),
    )
    return Loaded(records)
