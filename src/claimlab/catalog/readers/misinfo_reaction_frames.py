"""Misinfo Reaction Frames: headlines with how readers react to them."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, answers, members, numbered

SPLITS = {"train": "train", "dev": "dev", "val": "dev", "test": "test"}
QUESTIONS = ("writer_intent", "effect_on_reader", "reader_action", "spread", "pred_label")


def load(bundle: Bundle) -> Loaded:
    """One TSV per split, one row per annotation. A record is a headline; the answers go to the
    table of annotations.
    """
    raw = pl.concat([_rows(bundle, name) for name in sorted(members(bundle, "*.tsv"), key=_place)])
    key = ["split", "text", "label_raw"]
    heads = raw.group_by(key, maintain_order=True).first()
    records = heads.select(
        numbered("misinfo-reaction-frames", heads.height),
        *key,
        "source",
        "topic",
    )
    judged = raw.join(
        records.select("id", *key), on=key, how="left", nulls_equal=True, maintain_order="left"
    )
    return Loaded(records, {"annotations": answers(judged, {q: q for q in QUESTIONS})})


def _place(name: str) -> int:
    """The files' names are not documented beyond naming the split: train before dev before test."""
    stem = name.rsplit("/", 1)[-1].lower()
    return next((i for i, word in enumerate(SPLITS) if word in stem), len(SPLITS))


def _rows(bundle: Bundle, name: str) -> pl.DataFrame:
    needed = {"text": "headline", "label_raw": "gold_label"}
    optional = {"source": "source", "topic": "type", **{q: q for q in QUESTIONS}}
    split = [*SPLITS.values(), None][_place(name)]
    rows = Table.read(bundle, name, delimiter="\t").pick(needed, optional)
    return rows.with_columns(split=pl.lit(split, pl.String))
