"""Claimify: sentences of a search assistant's answers, with or without a verifiable claim."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, as_text, meta_json

NEEDED = ["answer_id", "question", "sentence_id", "sentence", "contains_factual_claim"]


def load(bundle: Bundle) -> Loaded:
    """One CSV, a row per sentence; the sentences of one answer form a group.

    The assistant wrote them, so they carry label, origin and (empty) change log. The labels say
    whether a sentence holds a verifiable claim, not whether it is true, so `veracity` stays null.
    """
    raw = Table.read(bundle, bundle.one("claimify_dataset.csv", "data.csv", "*.csv")).pick(NEEDED)
    meta = []
    for row in raw.iter_rows(named=True):
        origin = {
            "model": "a commercial search assistant",
            "source_dataset": "BingCheck",
            "prompt": row["question"],
        }
        synthetic = {"label": row["contains_factual_claim"], "origin": origin, "changes": []}
        meta.append(meta_json({"synthetic": synthetic, "sentence_id": row["sentence_id"]}))
    records = raw.select(
        id=pl.format("claimify-{}-{}", "answer_id", "sentence_id"),
        text="sentence",
        label_raw="contains_factual_claim",
        source=pl.lit("BingCheck"),
        group="answer_id",
        authorship=pl.lit("MGT"),
        meta=as_text(meta),
    )
    return Loaded(records, synthetic=True)
