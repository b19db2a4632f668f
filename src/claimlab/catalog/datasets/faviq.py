"""FaVIQ: claims made from questions that people asked a search engine, supported or refuted by
Wikipedia.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from claimlab.catalog import kit
from claimlab.catalog.datasets._guide import guide
from claimlab.core.types import JsonObject

SETS = ("a", "r")  # from ambiguous questions, and from regular ones


def load(bundle: kit.Bundle) -> kit.Loaded:
    return _load(bundle, SETS)


def load_a(bundle: kit.Bundle) -> kit.Loaded:
    return _load(bundle, ("a",))


def load_r(bundle: kit.Bundle) -> kit.Loaded:
    return _load(bundle, ("r",))


def _load(bundle: kit.Bundle, sets: Sequence[str]) -> kit.Loaded:
    """JSON lines in `faviq_a_set*/` and `faviq_r_set*/`; the test part of the A set is given out by
    its authors on request.
    """
    rows: list[JsonObject] = []
    for part in sets:
        for split in ("train", "dev", "test"):
            for name in bundle.match(
                f"*faviq_{part}_set*/{split}.jsonl",
                f"{part}_set/{split}.jsonl",
                f"{part}/{split}.jsonl",
            )[:1]:
                rows += [
                    {**row, "set": part, "split": split} for row in kit.read_objects(bundle, name)
                ]
    if not rows:
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds no file like 'faviq_{sets[0]}_set/train.jsonl'.",
            "Unpack the two zips of FaVIQ into one folder and give that.",
        )
    ids = kit.unique_ids(
        "faviq", pl.Series([f"{row['set']}-{row.get('id', n)}" for n, row in enumerate(rows, 1)])
    )
    pairs = list(zip(ids.to_list(), rows, strict=True))
    records = [
        {
            "id": record,
            "text": row.get("claim"),
            "kind": "claim",
            "label_raw": row.get("label"),
            "language": "eng",
            "split": row["split"],
            "meta": kit.meta_json({key: row.get(key) for key in ("set", "question", "answer")}),
        }
        for record, row in pairs
    ]
    evidence = kit.side_rows(
        "evidence", (passage for record, row in pairs for passage in _evidence(record, row))
    )
    return kit.Loaded(kit.record_rows(records), {"evidence": evidence})


def _evidence(record: str, row: JsonObject) -> Iterator[JsonObject]:
    """The best passage with the answer to the question, and the best without it: silver, found by
    word overlap.
    """
    for rank, kind in enumerate(("positive", "negative"), 1):
        passage = row.get(f"{kind}_evidence")
        if isinstance(passage, dict) and passage.get("text"):
            yield {
                "record_id": record,
                "evidence_id": f"{record}-{kind}",
                "rank": rank,
                "title": passage.get("title"),
                "text": passage["text"],
                "domain": "wikipedia.org",
                "provider": "faviq (TF-IDF)",
                "meta": kit.meta_json({"silver": kind, "passage": passage.get("id")}),
            }


A5 = {"SUPPORTS": "true", "REFUTES": "false"}

DATASET = kit.Entry(
    card=kit.Card(
        name="faviq",
        title="FaVIQ",
        summary=(
            "Lower-case claims converted by a model from real search questions and their answers,"
            " checked by people, with one silver passage for and one beside the point."
        ),
        size=188_376,
        modality=("claims", "encyclopedia"),
        topic="Various",
        languages=("eng",),
        labelling="Algorithm & Validation by human",
        access=(
            "Download faviq_a_set_v1.2.zip and faviq_r_set_v1.2.zip, linked from the repository"
            " faviq, into one folder; ask the authors for the A set's test part."
        ),
        homepage="https://faviq.github.io",
        citation=(
            "Park, Min, Kang, Zettlemoyer and Hajishirzi (2022), FaVIQ: FAct Verification from"
            " Information-seeking Questions, ACL."
        ),
        errata=(
            (
                "188,376 claims are both sets with the A set's hidden test part (25,956 + 162,420);"
                " what can be downloaded freely is 183,688."
            ),
            (
                "The published keyword score of 34.8 lies next to the 33.4 that always answering"
                " one class gives: the check learned nothing, which is not the same as finding no"
                " shortcut."
            ),
            (
                "One question gives several claims, and the files do not say which belong together;"
                " new splits may separate them."
            ),
            "Positive and negative evidence are silver labels by word overlap, not judgements.",
        ),
        has_evidence=True,
    ),
    maps=kit.both(A5),
    variants={
        "claims": load,
        "a-set": load_a,
        "r-set": load_r,
        "guide": guide("faviq", "faviq", language="eng"),
    },
    published_rows={"a-set": 25_956, "r-set": 162_420},
)
