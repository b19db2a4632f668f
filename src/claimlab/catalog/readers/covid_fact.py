"""COVID-Fact: titles posted to r/COVID19, and counter-claims made from them by a language model."""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit

FIELDS = ["claim", "label", "evidence", "gold_source", "flair"]


def load(bundle: kit.Bundle) -> kit.Loaded:
    """One file of JSON lines. A claim and the counter-claims made from it share `gold_source`: that
    is the group.
    """
    name = bundle.one("COVIDFACT_dataset.jsonl", "*covid*fact*.json*", "*.jsonl")
    rows = kit.read_objects(bundle, name, FIELDS[:3])
    raw = kit.frame_of(rows, FIELDS)
    records = raw.select(
        id=kit.numbered("covid-fact", raw.height, 4),
        text=pl.col("claim").str.strip_chars(),
        label_raw="label",
        url="gold_source",
        group="gold_source",
        # a refuted claim is a person's title with its key words swapped by a model
        authorship=pl.col("label").replace_strict(
            {"SUPPORTED": "HWT", "REFUTED": "HAT"}, default=None
        ),
        meta=kit.meta_column(raw, ["flair"]),
    )
    evidence = (
        {"record_id": record, "evidence_id": f"{record}-{rank}", "rank": rank, "text": sentence}
        for record, row in zip(records["id"], rows, strict=True)
        for rank, sentence in enumerate(row["evidence"], 1)
    )
    return kit.Loaded(records, {"evidence": kit.side_rows("evidence", evidence)})
