"""PubHealthTab: public-health claims, each with a table from the web as evidence."""

from __future__ import annotations

import hashlib
import json

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    meta_json,
    read_objects,
    record_rows,
    side_rows,
)
from claimlab.core.types import JsonObject

SPLITS = {
    "train": ("*train*.jsonl",),
    "dev": ("*eval*.jsonl", "*dev*.jsonl", "*val*.jsonl"),
    "test": ("*test*.jsonl",),
}


def load(bundle: Bundle) -> Loaded:
    """JSON lines per split, whichever are present; the table goes to the evidence."""
    rows, evidence = [], []
    for split, patterns in SPLITS.items():
        for name in bundle.match(*patterns):
            for item in read_objects(bundle, name, ["_id", "claim", "label", "table"]):
                row = _record(item, split)
                rows.append(row)
                evidence.append(_evidence(row["id"], row["group"], item))
    if not rows:
        bundle.one("*pubhealthtab*.jsonl", "*train*.jsonl")
    return Loaded(record_rows(rows), {"evidence": side_rows("evidence", evidence)})


def _record(item: JsonObject, split: str) -> JsonObject:
    return {
        "id": f"pubhealthtab-{item['_id']}",
        "text": str(item["claim"]).strip(),
        "label_raw": item["label"],
        "language": "eng",
        "topic": "health",
        "group": _table_id(item["table"]),
        "split": split,
        "meta": meta_json({"initial_claim": item.get("initial_claim")}),
    }


def _table_id(table: JsonObject) -> str:
    """Claims about one table must stay together, so a table is named by its content."""
    content = table.get("html_code") or json.dumps(table, sort_keys=True)
    return "table-" + hashlib.sha256(str(content).encode()).hexdigest()[:12]


def _evidence(record_id: str, table_id: str, item: JsonObject) -> JsonObject:
    """The table as text, a line per row and a tab between cells; -1 as rationale means that no
    column was named.
    """
    table = item["table"]
    across, down = table.get("header_horizontal") or [], table.get("header_vertical") or []
    lines = [across, *(table.get("rows") or [])]
    rationale = item.get("header_rationale")
    return {
        "record_id": record_id,
        "evidence_id": table_id,
        "rank": 1,
        "title": table.get("website_title"),
        "text": "\n".join("\t".join(str(cell) for cell in line) for line in lines),
        "url": table.get("website"),
        "stance": item["label"],
        "meta": meta_json(
            {
                "caption": table.get("caption"),
                "header_vertical": down or None,
                "header_rationale": rationale if isinstance(rationale, list) else None,
            }
        ),
    }
