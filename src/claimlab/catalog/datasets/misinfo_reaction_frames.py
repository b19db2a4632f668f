"""Misinfo Reaction Frames: headlines with how readers react to them."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.columns import column, constant, require_columns
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_delimited

SPLITS = {"train": "train", "dev": "dev", "val": "dev", "test": "test"}
QUESTIONS = ("writer_intent", "effect_on_reader", "reader_action", "spread", "pred_label")


def load(bundle: Bundle) -> Loaded:
    """One TSV per split, one row per annotation. A record is a headline; the answers go to the table of annotations."""
    names = sorted(bundle.match("*.tsv") or [bundle.one("*.tsv")], key=_place)
    raw = pl.concat([_rows(bundle, name) for name in names])
    key = ["split", "text", "label_raw"]
    heads = raw.group_by(key, maintain_order=True).first().with_row_index("n", offset=1)
    heads = heads.with_columns(("misinfo-reaction-frames-" + pl.col("n").cast(pl.String).str.zfill(6)).alias("id"))
    records = heads.select("id", "text", "label_raw", "source", "topic", "split").with_columns(
        constant("claim", heads.height).alias("kind"), constant("eng", heads.height).alias("language")
    )
    ids = heads.select(*key, pl.col("id").alias("record_id"))
    answers = raw.join(ids, on=key, how="left", nulls_equal=True, maintain_order="left")
    annotations = (
        answers.unpivot(list(QUESTIONS), index="record_id", variable_name="question", value_name="value")
        .filter(pl.col("value").is_not_null())
        .with_columns(pl.lit("human").alias("annotator_kind"))
    )
    return Loaded(records, {"annotations": annotations})


def _place(name: str) -> int:
    """The files' names are not documented beyond naming the split: train before dev before test."""
    stem = name.rsplit("/", 1)[-1].lower()
    return next((i for i, word in enumerate(SPLITS) if word in stem), len(SPLITS))


def _rows(bundle: Bundle, name: str) -> pl.DataFrame:
    raw = read_delimited(bundle.text(name), delimiter="\t")
    require_columns(raw, name, [("headline",), ("gold_label",)])
    split = [*SPLITS.values(), None][_place(name)]
    fields = {"text": column(raw, "headline"), "label_raw": column(raw, "gold_label"), "source": column(raw, "source")}
    fields |= {"topic": column(raw, "type"), "split": constant(split, raw.height)}
    return pl.DataFrame(fields | {q: column(raw, q) for q in QUESTIONS})


DATASET = Entry(
    card=Card(
        name="misinfo-reaction-frames",
        title="Misinfo Reaction Frames",
        summary="Headlines on COVID-19, climate and cancer, real and false, with what annotators took the writer's "
        "intent and the readers' reaction to be.",
        size=25_100,
        modality=("articles",),
        topic="Global crises",
        region="International",
        languages=("eng",),
        labelling="Source-based and fact-checkers; reactions crowd-sourced",
        licence="not checked; see the homepage",
        access="TSV files in a shared drive folder linked from the repository.",
        homepage="https://github.com/skgabriel/mrf-modeling",
        citation="Gabriel, Hallinan, Sap, Nguyen, Roesner, Choi and Choi (2022), Misinfo Reaction Frames: Reasoning about "
        "Readers' Reactions to News Headlines, ACL.",
        errata=(
            "The guide files it under news articles; only headlines are in it. A headline stands in several rows.",
        ),
        survey="cdl-listed",
    ),
    maps={"a5": LabelMap("misinfo-reaction-frames/a5", {"real": "true", "misinfo": "false"})},
    variants={"headlines": load},
    sample=Sample(
        files={
            "mrf_train.tsv": "headline\twriter_intent\teffect_on_reader\treader_action\tspread\tpred_label\tgold_label\tdate\tsource\ttype\n"
            "Tea heals all\tto sell tea\thopeful\tbuy tea\t4\tmisinfo\tmisinfo\t\tHill Daily\tcancer\n"
            "Tea heals all\tto amuse\t\t\t1\treal\tmisinfo\t\tHill Daily\tcancer\n",
            "mrf_test.tsv": "headline\twriter_intent\teffect_on_reader\treader_action\tspread\tpred_label\tgold_label\tdate\tsource\ttype\n"
            "Rivers rise in spring\tto inform\tcurious\t\t2\treal\treal\t\tRiver News\tclimate\n",
        },
        rows={"headlines": 2},
        veracity={"true": 1, "false": 1},
    ),
)
