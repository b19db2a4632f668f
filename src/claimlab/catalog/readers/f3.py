"""F3: news and posts written by people, and versions of them written by a language model."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, as_text, members, meta_column, meta_json

SPLITS = {"train": "train", "validation": "dev", "test": "test"}
KINDS = {"news article": "article", "twitter post": "post"}
ABOUT = ["pre_post_GPT", "dataset_source", "text_length"]
PROMPTED = ["Prompt_type", "pre_post_GPT", "dataset_source"]
MODEL = "gpt-3.5-turbo"  # the one generator that the paper names


def load(bundle: Bundle, *, human: bool = True, machine: bool = True, kind: str = "") -> Loaded:
    """Both parts: people's texts first, then the model's, each file in its own order."""
    parts = [human_rows(bundle)] if human else []
    parts += [machine_rows(bundle)] if machine else []
    loaded = finish(pl.concat(parts))
    if kind:
        loaded.records = loaded.records.filter(kind=kind)
    return loaded


def human_rows(bundle: Bundle) -> pl.DataFrame:
    """The release cuts the same texts twice, by article type and by source dataset: each text is
    kept once.

    The two cuts split differently. `split` is that of the cut by source; the other is in `meta`.
    """
    parts = []
    for name in members(bundle, "Human_Disinformation_*.csv"):
        raw = Table.read(bundle, name).pick(["uuid", "content", "label", "article_type", *ABOUT])
        cut = "_dataset_source_" in PurePosixPath(name).stem
        parts.append(raw.with_columns(by_source=pl.lit(cut), split=split_of(name)))
    raw = pl.concat(parts)
    by_source = pl.col("split").filter("by_source").first().over("uuid")
    by_type = pl.col("split").filter(~pl.col("by_source")).first().over("uuid")
    raw = raw.with_columns(split=by_source, split_by_article_type=by_type)
    raw = raw.unique("uuid", keep="first", maintain_order=True)
    return raw.select(
        *["uuid", "article_type", "split"],
        text="content",
        label_raw="label",
        source="dataset_source",
        base="content",
        authorship=pl.lit("HWT"),
        meta=meta_column(raw, [*ABOUT, "split_by_article_type"]),
    )


def machine_rows(bundle: Bundle) -> pl.DataFrame:
    """Texts that the model wrote from a person's text; being synthetic, they carry label, origin
    and change log.

    Rule for authorship: by file. A text in an LLM file is MGT at every degree of editing, because
    the model rewrote the whole text; nothing in the files separates a light edit (HAT) from a
    rewrite.
    """
    needed = [
        "uuid",
        "ai_content",
        "human_content",
        "ai_generated_label",
        "article_type",
        *PROMPTED,
    ]
    names = members(bundle, "LLM_Disinformation_*.csv")
    raw = pl.concat(
        [Table.read(bundle, n).pick(needed).with_columns(split=split_of(n)) for n in names]
    )
    meta = []
    for row in raw.iter_rows(named=True):
        # Real texts were made by paraphrase, fake ones by perturbation, each in three degrees.
        manner = "paraphrase" if row["ai_generated_label"] == "real" else "perturbation"
        synthetic = {
            "label": row["ai_generated_label"],
            "origin": {
                "model": MODEL,
                "source_dataset": row["dataset_source"],
                "source_text": row["human_content"],
            },
            "changes": [{"kind": manner, "degree": row["Prompt_type"]}],
        }
        meta.append(meta_json({"synthetic": synthetic, **{k: row[k] for k in PROMPTED}}))
    return raw.select(
        *["uuid", "article_type", "split"],
        text="ai_content",
        label_raw="ai_generated_label",
        source="dataset_source",
        base="human_content",
        authorship=pl.lit("MGT"),
        meta=as_text(meta),
    )


def split_of(name: str) -> pl.Expr:
    return pl.lit(SPLITS.get(PurePosixPath(name).stem.rsplit("_", 1)[1]), pl.String)


def finish(rows: pl.DataFrame) -> Loaded:
    """Record columns; a person's text and everything made from it form one group."""
    bases = rows["base"].drop_nulls().unique()
    groups = {base: "source-" + hashlib.sha256(base.encode()).hexdigest()[:12] for base in bases}
    records = rows.select(
        *["text", "label_raw", "source", "authorship", "split", "meta"],
        id="f3-" + pl.col("uuid"),
        kind=pl.col("article_type").replace_strict(KINDS, default=None),
        group=pl.col("base").replace_strict(groups, default=None, return_dtype=pl.String),
    )
    return Loaded(records, synthetic="MGT" in records["authorship"])
