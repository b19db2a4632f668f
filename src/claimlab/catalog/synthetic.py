"""Machine-made text always carries its label, origin and change log: where a loader did not, the
catalogue writes them.

What the files say of a text's making is the loader's to tell (`meta.synthetic`); this is the least
that is known of any text whose `authorship` names a machine: what it was labelled, where it was
published, and what kind of change made it.
"""

from __future__ import annotations

import json

import polars as pl

CHANGES = {
    "MGT": "written by a model",
    "MTT": "translated by a machine",
    "HAT": "altered by a model from a person's text",
}


def marked(records: pl.DataFrame, title: str) -> tuple[pl.DataFrame, bool]:
    """`records` with the mark on every machine-made row that lacks it, and whether there is any
    such row.
    """
    if "authorship" not in records.columns:
        return records, False
    machine = records["authorship"].is_in(list(CHANGES)).fill_null(False)
    if not machine.any():
        return records, False
    meta = records["meta"].to_list() if "meta" in records.columns else [None] * records.height
    labels = (
        records["label_raw"].to_list()
        if "label_raw" in records.columns
        else [None] * records.height
    )
    authors = records["authorship"].to_list()
    for i in machine.arg_true().to_list():
        known = json.loads(meta[i]) if meta[i] else {}
        if "synthetic" in known:
            continue
        origin = f"{title}, as published"
        known["synthetic"] = {
            "changes": [CHANGES[authors[i]]],
            "label": labels[i] or "none given",
            "origin": origin,
        }
        meta[i] = json.dumps(known, ensure_ascii=False, sort_keys=True)
    return records.with_columns(pl.Series("meta", meta, dtype=pl.String)), True
