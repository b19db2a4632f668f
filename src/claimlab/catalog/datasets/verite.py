"""VERITE: image-caption pairs in triplets that balance image and text."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, both, host, meta_column

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
        kind=pl.lit("claim"),
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


LABELS = {"true": "true", "miscaptioned": "false", "out-of-context": "false"}

DATASET = Entry(
    card=Card(
        name="verite",
        title="VERITE",
        summary=(
            "Real image-caption pairs from Snopes and Reuters fact-checks: truthful, with a false"
            " caption, or with another image. Each caption and image occurs once in a true and once"
            " in a false pair."
        ),
        size=1_001,
        modality=("claims", "images"),
        topic="Various",
        region="International",
        languages=("eng",),
        time_start="2001-01-01",
        time_end="2023-01-01",
        labelling="Human expert",
        licence="research only",
        access=(
            "Captions and image addresses are in the authors' repository; the images are given to"
            " research addresses."
        ),
        homepage="https://github.com/stevejpapad/image-text-verification",
        citation=(
            "Papadopoulos, Koutlis, Papadopoulos and Petrantonakis (2024), VERITE: a Robust"
            " Benchmark for Multimodal Misinformation Detection Accounting for Unimodal Bias,"
            " International Journal of Multimedia Information Retrieval 13(1)."
        ),
        errata=(
            (
                "325 captions have both labels 'true' and 'out-of-context' by design: without the"
                " images a text-only detector cannot be right on them. Split by group, which keeps"
                " the pairs of one fact-check together."
            ),
            (
                "The authors' page says 324 out-of-context pairs and 1,000 rows; the file has 325"
                " and 1,001."
            ),
            "The repository's code is under Apache-2.0, the dataset is for research only.",
            "The column snopes_url also holds the Reuters addresses (260 Snopes, 78 Reuters).",
        ),
        has_evidence=True,
    ),
    maps=both(LABELS),
    variants={"pairs": load},
    real_rows={"pairs": 1_001},
    real_labels={"true": 338, "miscaptioned": 338, "out-of-context": 325},
)
