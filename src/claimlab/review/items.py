"""From chosen records to items: what is shown of each, gold items and attention checks among them,
and their order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.stats.streams import share_of, stream
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.review.project import COLUMNS
from claimlab.review.shapes import Passage, Payload, Said
from claimlab.review.task import SCALE, Task

PASSAGES = 3  # pieces of evidence shown beside a record
LONGEST_PASSAGE = 3_000


def build(
    dataset: Dataset,
    rows: pl.DataFrame,
    task: Task,
    *,
    gold: Mapping[str, Any] | None = None,
    attention: int = 0,
    batches: Mapping[str, int] | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """The items of a review. `gold` maps records to their known answers; `attention` is how many
    attention checks are added; `batches` says which batch a record is in."""
    if task.kind == "pair" and rows["other"].null_count():
        raise UsageError(f"The task '{task.name}' compares two records.", "Pass `pairs`.")
    if task.kind != "pair" and rows["other"].null_count() < rows.height:
        raise UsageError(
            f"The task '{task.name}' looks at one record, not at pairs.", "Choose a task for pairs."
        )
    if task.order == "uncertainty":
        if rows["uncertainty"].null_count() == rows.height:
            todo = "Review predictions with scores, or pairs; or choose another `order`."
            raise UsageError("Nothing says how uncertain these records are.", todo)
        rows = rows.sort("uncertainty", descending=True, nulls_last=True, maintain_order=True)
    known = _gold(task, gold or {}, dataset)
    items = [_item(row, known.get(row["id"]), batches) for row in _with_texts(dataset, rows, known)]
    specials = [item for item in items if item["gold"] is not None]
    plain = [item for item in items if item["gold"] is None]
    specials += [_attention(task, n, seed) for n in range(attention)]
    return _placed(plain, specials, seed)


def _with_texts(dataset: Dataset, rows: pl.DataFrame, known: Mapping[str, Any]) -> list[JsonObject]:
    """The rows, and the gold records that are not among them."""
    here = set(rows["id"].to_list())
    more = [dict.fromkeys(rows.columns) | {"id": i} for i in known if i not in here]
    texts = _texts(dataset)
    evidence = _evidence(dataset, here | set(known))
    return [
        {
            **row,
            **{k: texts.get(row["id"], {}).get(k) for k in ("text", "veracity")},
            "other_record": texts.get(row["other"], {}),
            "context": evidence.get(row["id"], ()),
        }
        for row in [*rows.iter_rows(named=True), *more]
    ]


def _texts(dataset: Dataset) -> dict[str, JsonObject]:
    """Text and label of each record, the doubtful ones included."""
    frames = [dataset.records.select("id", "text", "veracity")]
    if "doubtful" in dataset.tables:
        frames.insert(0, dataset.tables["doubtful"].select("id", "text", "veracity"))
    return {row["id"]: row for frame in frames for row in frame.iter_rows(named=True)}


def _evidence(dataset: Dataset, ids: set[str]) -> dict[str, tuple[Passage, ...]]:
    table = dataset.tables.get("evidence")
    out: dict[str, list[Passage]] = {}
    if table is None:
        return {}
    mine = table.filter(pl.col("record_id").is_in(list(ids))).sort(
        "record_id", "rank", "evidence_id", nulls_last=True
    )
    for row in mine.iter_rows(named=True):
        passages = out.setdefault(row["record_id"], [])
        if len(passages) < PASSAGES:
            text = row["text"] and row["text"][:LONGEST_PASSAGE]
            passages.append(Passage(title=row["title"], text=text, url=row["url"]))
    return {record: tuple(passages) for record, passages in out.items()}


def _item(row: JsonObject, gold: Any, batches: Mapping[str, int] | None) -> JsonObject:
    prediction = {
        "label": row["said"],
        "confidence": row["confidence"],
        "rationale": row["rationale"],
    }
    payload = Payload(
        text=row["text"],
        other_text=row["other_record"].get("text"),
        label=row["veracity"],
        other_label=row["other_record"].get("veracity"),
        context=row["context"],
        model=Said(**prediction) if any(v is not None for v in prediction.values()) else None,
        reason=row["reason"],
    )
    return {
        "record_id": row["id"],
        "other_id": row["other"],
        "payload": payload.model_dump_json(exclude_none=True),
        "gold": None if gold is None else json.dumps(gold),
        "attention": False,
        "uncertainty": row["uncertainty"],
        "batch": (batches or {}).get(row["id"]),
    }


def _gold(task: Task, gold: Mapping[str, Any], dataset: Dataset) -> JsonObject:
    """The known answers, checked; text from a file is read as the task needs it."""
    if gold and not task.compared:
        raise UsageError(f"Answers to '{task.name}' are not compared.", "Leave out `gold`.")
    here = _texts(dataset)
    lost = [record for record in gold if record not in here]
    if lost:
        shown = ", ".join(f"'{record}'" for record in lost[:3])
        raise DataError(
            f"{several(len(lost), 'gold record')} {verb(len(lost))} not in '{dataset.name}':"
            f" {shown}.",
            "Check their ids.",
        )
    as_int = {
        r: int(v) if task.ordered and str(v).strip().isdigit() else v for r, v in gold.items()
    }
    return {record: task.check(value) for record, value in as_int.items()}


def _attention(task: Task, number: int, seed: int) -> JsonObject:
    """An attention check: an item whose text asks for one particular answer."""
    if not task.compared:
        raise UsageError(f"Answers to '{task.name}' are not compared.", "Leave out `attention`.")
    draw = stream(seed, "attention", number)
    answer: Any
    if task.ordered:
        answer = draw.randint(*SCALE)
        shown = str(answer)
    else:
        choice = draw.choice(task.choices)
        answer, shown = choice.value, choice.label
    text = f"This item checks attention. Please answer: {shown}."
    payload = Payload(text=text, other_text=text if task.kind == "pair" else None)
    return {
        "record_id": None,
        "other_id": None,
        "payload": payload.model_dump_json(exclude_none=True),
        "gold": json.dumps(answer),
        "attention": True,
        "uncertainty": None,
        "batch": None,
    }


def _placed(plain: list[JsonObject], specials: list[JsonObject], seed: int) -> pl.DataFrame:
    """All items in order, the special ones anywhere among the others; numbers tell nothing of what
    an item is.
    """
    at = [(float(n), item) for n, item in enumerate(plain)]
    at += [(share_of(seed, "place", n) * len(plain) - 0.5, item) for n, item in enumerate(specials)]
    ordered = [item for _, item in sorted(at, key=lambda pair: pair[0])]
    rows = [{"id": str(n), "position": float(n), **item} for n, item in enumerate(ordered, 1)]
    return pl.DataFrame(rows, schema=COLUMNS)
