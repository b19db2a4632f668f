"""MR2: rumours with images and search results, in English and Chinese."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, frame_of, lists_of, present, read_json_as


def load(bundle: Bundle) -> Loaded:
    """dataset_items_SPLIT.json maps a number to a caption, a label and paths. No field names the
    language: Chinese script separates the Weibo half from the Twitter half. Images and search
    results are not read.
    """
    rows = []
    for split, name in present(bundle, lists_of("mr2")["files"]).items():
        items = read_json_as(bundle.text(name), name, dict)
        rows += [{"number": number, "split": split, **item} for number, item in items.items()]
    raw = Table("dataset_items", frame_of(rows))
    text = raw.need("caption")
    han = pl.when(text.str.contains(r"\p{Han}")).then(pl.lit("zho")).otherwise(pl.lit("eng"))
    records = raw.frame.select(
        "split",
        id=pl.format("mr2-{}-{}", "split", "number"),
        text=text,
        label_raw=raw.need("label"),
        language=pl.when(text.is_not_null()).then(han),
        meta=raw.meta(["image_path", "direct_path", "inv_path"]),
    )
    return Loaded(records)
