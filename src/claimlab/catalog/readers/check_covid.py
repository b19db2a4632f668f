"""Check-COVID: claims from news about Covid-19, judged against sentences of journal abstracts."""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit

FIELDS = ["id", "claim", "cord_id", "label", "is_auth"]


def load(bundle: kit.Bundle) -> kit.Loaded:
    """JSON lines. Evidence is named by abstract and sentence number; its words come from
    corpus.json where that lies beside.
    """
    name = bundle.one("Check-COVID_all.json", "covidCheck_all.json", "*covid*check*.json*")
    rows = kit.read_objects(bundle, name, [*FIELDS[:4], "evidence_set"])
    raw = kit.frame_of(rows, FIELDS).rename({"id": "file_id"})
    records = raw.select(
        id=pl.format("check-covid-{}", "file_id"),
        text=pl.col("claim").str.strip_chars(),
        label_raw="label",
        group=pl.col("file_id").str.replace(
            r"_\d+$", ""
        ),  # the news claim from which the versions were made
        meta=kit.meta_column(
            raw.rename({"is_auth": "extracted_from_news"}), ["cord_id", "extracted_from_news"]
        ),
    )
    corpus = {
        row["cord_id"]: row
        for file in bundle.match("corpus.json*")
        for row in kit.read_objects(bundle, file)
    }
    evidence = []
    for record, row in zip(records["id"], rows, strict=True):
        paper = corpus.get(row["cord_id"], {})
        sentences = dict(enumerate(paper.get("abstract", [])))
        for rank, e in enumerate(row["evidence_set"], 1):
            evidence.append(
                {
                    "record_id": record,
                    "evidence_id": f"{row['cord_id']}:{e['sent_index']}",
                    "rank": rank,
                    "title": paper.get("title"),
                    "text": sentences.get(e["sent_index"]),
                    "provider": "CORD-19",
                    "stance": row["label"],
                    "meta": kit.meta_json({"type": e.get("type")}),
                }
            )
    notes = (
        []
        if corpus
        else [
            "corpus.json is not here: evidence is named by abstract and sentence, without its"
            " words."
        ]
    )
    return kit.Loaded(records, {"evidence": kit.side_rows("evidence", evidence)}, notes)
