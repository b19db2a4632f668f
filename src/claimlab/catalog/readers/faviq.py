"""FaVIQ: claims made from questions that people asked a search engine, supported or refuted by
Wikipedia.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from claimlab.catalog import kit
from claimlab.core.types import JsonObject

SETS = ("a", "r")  # from ambiguous questions, and from regular ones


def load(bundle: kit.Bundle, sets: Sequence[str] = SETS) -> kit.Loaded:
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
