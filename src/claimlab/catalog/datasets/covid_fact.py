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
        kind=pl.lit("claim"),
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


VERDICTS = {"SUPPORTED": "true", "REFUTED": "false"}

DATASET = kit.Entry(
    card=kit.Card(
        name="covid-fact",
        title="COVID-Fact",
        summary=(
            "Scientific statements posted to r/COVID19, each with counter-claims that a language"
            " model made from it by swapping key words, and the evidence sentences that decide"
            " between them."
        ),
        size=4_086,
        modality=("claims",),
        topic="Covid-19",
        languages=("eng",),
        labelling="Human expert (true), algorithm-generated (false)",
        licence=None,
        access="Download COVIDFACT_dataset.jsonl from the authors' repository.",
        homepage="https://github.com/asaakyan/covidfact",
        citation=(
            "Saakyan, Chakrabarty and Muresan (2021), COVID-Fact: Fact Extraction and Verification"
            " of Real-World Claims on COVID-19 Pandemic, ACL."
        ),
        errata=(
            (
                "Label and authorship are one: every refuted claim was altered by a model, every"
                " supported one was written by a person. A detector of altered text scores well"
                " without checking a fact."
            ),
            (
                "A supported claim and its counter-claims share evidence and differ in a word or"
                " two: split by group (1,277 sources), never by row."
            ),
            (
                "Five supported claims occur twice, word for word; four runs of counter-claims have"
                " lost the claim they were made from."
            ),
            "'gold_source' is where the claim comes from, not where the evidence was found.",
        ),
        has_evidence=True,
    ),
    maps=kit.both(VERDICTS),
    variants={"claims": load},
    real_rows={"claims": 4_086},
    real_labels={"REFUTED": 2_790, "SUPPORTED": 1_296},
)
