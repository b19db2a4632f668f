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
        kind=pl.lit("claim"),
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


VERDICTS = {"SUPPORT": "true", "REFUTE": "false", "NOTENOUGHINFO": "unknown"}

DATASET = kit.Entry(
    card=kit.Card(
        name="check-covid",
        title="Check-COVID",
        summary=(
            "Claims about Covid-19 taken from news or composed by annotators, with the sentences of"
            " journal abstracts that support them, refute them or do not settle them."
        ),
        size=1_504,
        modality=("claims",),
        topic="Covid-19",
        languages=("eng",),
        labelling="Human expert",
        licence="MIT",
        access=(
            "Download Check-COVID_all.json (and corpus.json for the words of the evidence) from the"
            " authors' repository."
        ),
        homepage="https://github.com/posuer/Check-COVID",
        citation=(
            "Wang, Harwood, Chillrud, Ananthram, Subbiah and McKeown (2023), Check-COVID:"
            " Fact-Checking COVID-19 News Claims with Scientific Evidence, Findings of ACL."
        ),
        errata=(
            (
                "The guide's label shares do not come from the full file, which is balanced: 505"
                " support, 504 refute, 495 not enough info (33.58, 33.51, 32.91%)."
            ),
            (
                "Every not-enough-info claim repeats, word for word, a supported or refuted one and"
                " only changes the evidence: 494 texts have two labels. From the text alone the"
                " third class cannot be predicted."
            ),
            "A claim and its negation are made from the same news sentence: split by group (498).",
        ),
        has_evidence=True,
    ),
    maps=kit.both(VERDICTS),
    variants={"claims": load},
    real_rows={"claims": 1_504},
    real_labels={"SUPPORT": 505, "REFUTE": 504, "NOTENOUGHINFO": 495},
)
