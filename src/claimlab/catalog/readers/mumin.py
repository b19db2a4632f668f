"""MuMiN: claims of fact-checkers in many languages, and MuMiN-PT, the Portuguese part of them."""

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
        label_raw=raw.need("verdict"),
        language=languages(raw.maybe("language")),
        split=pl.coalesce(
            pl.when(raw.need(mask) == "true").then(pl.lit(split)) for split, mask in MASKS.items()
        ),
        meta=raw.meta(["claim_en"]),
    )
    return Loaded(records)


def portuguese(bundle: Bundle) -> Loaded:
    """The rows whose language field says Portuguese; all rows, with a note, where the file has no
    such field.

    A loader does not guess languages: that is a cleaning step, whose choice and parameters belong
    into the lineage.
    """
    loaded = load(bundle)
    if loaded.records["language"].null_count() < loaded.records.height:
        loaded.records = loaded.records.filter(pl.col("language") == "por")
    else:
        loaded.notes.append(
            f"These files name no language, so all {loaded.records.height:,} claims are kept. Keep"
            " the Portuguese ones with the recipe pt-afc of: claimlab clean"
        )
    return loaded
