"""VERITE: image-caption pairs in triplets that balance image and text."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, host, meta_column

ARTICLE = {
    "triplet": "id",
    "true_url": "true_url",
    "false_url": "false_url",
    "review": "snopes_url",
}


def load(bundle: Bundle) -> Loaded:
    """VERITE.csv, one row per pair. The number in the image's name is the fact-check that its two
    or three pairs share.
    """
    raw = Table.read(bundle, bundle.one("VERITE.csv"))
    rows = raw.pick(
        {"text": "caption", "image": "image_path", "label_raw": "label"}
    ).with_row_index("row")
    rows = rows.with_columns(
        id="verite-" + pl.col("row").cast(pl.String),
        triplet=pl.col("image").str.extract(r"_(\d+)\.\w+$"),
        side=pl.col("image").str.extract(r"(true|false)_\d+\.\w+$"),
    )
    rows = rows.join(_articles(bundle), on="triplet", how="left", maintain_order="left")
    records = rows.select(
        *["id", "text", "label_raw"],
        url=pl.when(pl.col("side") == "true").then("true_url").otherwise("false_url"),
        group="triplet-" + pl.col("triplet"),
        meta=meta_column(rows, ["image", "query"]),
    )
    # the fact-check behind each pair: its address only, the file has no text of it
    evidence = rows.drop_nulls("review").select(
        record_id="id",
        evidence_id="fact-check-" + pl.col("triplet"),
        rank=pl.lit(1),
        url="review",
        domain=host(pl.col("review")),
        publisher=host(pl.col("review")),
    )
    return Loaded(records, {"evidence": evidence})


def _articles(bundle: Bundle) -> pl.DataFrame:
    """Per triplet: where the images were, and the fact-check. The file may be absent."""
    names = bundle.match("VERITE_articles.csv")
    if not names:
        return pl.DataFrame(schema=dict.fromkeys((*ARTICLE, "query"), pl.String))
    return Table.read(bundle, names[0]).pick(ARTICLE, ["query"])
