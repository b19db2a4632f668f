"""The items of a review, made of its rows: what is shown of each, gold items and attention checks
among them, and their order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import itemgetter
from typing import Any, TypeVar

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.stats.streams import share_of, stream
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.review.project import COLUMNS
from claimlab.review.selection import with_all_columns
from claimlab.review.shapes import ModelOutput, Passage, Payload, RecordOrigin
from claimlab.review.task import SCALE, ReviewTask

Shaped = TypeVar("Shaped", RecordOrigin, ModelOutput)
PASSAGES_SHOWN = 3  # pieces of evidence shown beside a record
PASSAGE_CHARACTERS = 3_000
COPIES_SHOWN, COPY_CHARACTERS = 5, 400  # other records of its cluster, and characters of each
MOST_TEXTS_CLUSTERED = 200_000  # among which clusters are looked for


def build(
    dataset: Dataset,
    rows: pl.DataFrame,
    task: ReviewTask,
    *,
    gold: Mapping[str, Any] | None = None,
    attention: int = 0,
    seed: int = 0,
) -> pl.DataFrame:
    """The items of a review. `gold` maps records to their known answers; `attention` is how many
    attention checks are added."""
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
    texts = _texts_of(dataset)
    answers = _gold_answers(task, gold or {}, dataset.name, texts)
    more = pl.DataFrame({"id": [*answers]}, schema={"id": pl.String})
    more = more.join(rows, on="id", how="anti", maintain_order="left")
    every = pl.concat([rows, with_all_columns(more)])
    evidence, clusters = _evidence_of(dataset, every["id"]), _clusters_of(dataset)
    items = [
        _item(row, texts, evidence.get(row["id"], ()), clusters, answers.get(row["id"]))
        for row in every.iter_rows(named=True)
    ]
    specials = [item for item in items if item["gold"] is not None]
    plain = [item for item in items if item["gold"] is None]
    specials += [_attention_check(task, n, seed) for n in range(attention)]
    return _placed(plain, specials, seed)


def _texts_of(dataset: Dataset) -> dict[str | None, JsonObject]:
    """Text, label and origin of each record, the doubtful ones included."""
    day = pl.col("date").dt.strftime("%Y-%m-%d")
    tables = [dataset.tables.get("doubtful"), dataset.records]
    columns = ("id", "text", "veracity", "source", day, "url")
    frames = [table.select(columns) for table in tables if table is not None]
    return {row["id"]: row for frame in frames for row in frame.iter_rows(named=True)}


def _evidence_of(dataset: Dataset, ids: pl.Series) -> dict[str, tuple[Passage, ...]]:
    """The first passages beside each record."""
    table = dataset.tables.get("evidence")
    if table is None:
        return {}
    beside = table.filter(pl.col("record_id").is_in(ids.implode()))
    ranked = beside.sort("record_id", "rank", "evidence_id", nulls_last=True)
    first = ranked.with_columns(pl.col("text").str.slice(0, PASSAGE_CHARACTERS))
    parts = first.group_by("record_id").head(PASSAGES_SHOWN).partition_by("record_id", as_dict=True)
    return {
        str(record): tuple(Passage(**row) for row in part.iter_rows(named=True))
        for (record,), part in parts.items()
    }


def _clusters_of(dataset: Dataset) -> dict[str, list[str]]:
    """The near-duplicates that each record is among, itself included."""
    from claimlab.text.neardup import find_clusters

    if dataset.records.height > MOST_TEXTS_CLUSTERED:
        return {}
    labels = pl.Series("cluster", find_clusters(dataset.records["text"]).labels)
    rows = dataset.records.select("id", labels).filter(pl.col("cluster") >= 0)
    clusters = rows.group_by("cluster", maintain_order=True).agg("id")["id"].to_list()
    return {id: cluster for cluster in clusters for id in cluster}


def _copy(record: JsonObject) -> Passage:
    label = f"labelled {record['veracity']}" if record["veracity"] else None
    parts = (record["id"], label, record["source"], record["date"])
    text = (record["text"] or "")[:COPY_CHARACTERS]
    return Passage(title=" · ".join(filter(None, parts)), text=text, url=record["url"])


def _item(
    row: JsonObject,
    texts: Mapping[str | None, JsonObject],
    context: tuple[Passage, ...],
    clusters: Mapping[str, list[str]],
    gold: Any,
) -> JsonObject:
    record, other = texts.get(row["id"], {}), texts.get(row["other"], {})
    copies = [id for id in clusters.get(row["id"], ()) if id not in (row["id"], row["other"])]
    payload = Payload(
        text=record.get("text"),
        other_text=other.get("text"),
        label=record.get("veracity"),
        other_label=other.get("veracity"),
        about=_known(RecordOrigin(**record)),
        other_about=_known(RecordOrigin(**other)),
        context=context,
        cluster=tuple(_copy(texts[id]) for id in copies[:COPIES_SHOWN]) or None,
        model=_known(ModelOutput(**row, label=row["said"])),
        reason=row["reason"],
    )
    return {
        "record_id": row["id"],
        "other_id": row["other"],
        "payload": payload.model_dump_json(exclude_none=True),
        "gold": None if gold is None else json.dumps(gold),
        "attention": False,
        **{name: row[name] for name in ("uncertainty", "chance", "batch")},
    }


def _known(shape: Shaped) -> Shaped | None:
    """Null where it says nothing."""
    return None if shape == type(shape)() else shape


def _gold_answers(
    task: ReviewTask, gold: Mapping[str, Any], name: str, texts: Mapping[str | None, JsonObject]
) -> JsonObject:
    """The known answers, checked; text from a file is read as the task needs it."""
    if gold and not task.compared:
        raise UsageError(f"Answers to '{task.name}' are not compared.", "Leave out `gold`.")
    lost = [record for record in gold if record not in texts]
    if lost:
        examples = ", ".join(f"'{record}'" for record in lost[:3])
        raise DataError(
            f"{several(len(lost), 'gold record')} {verb(len(lost))} not in '{name}': {examples}.",
            "Check their ids.",
        )
    numbers = task.ordered
    return {
        record: task.check(int(value) if numbers and str(value).strip().isdigit() else value)
        for record, value in gold.items()
    }


def _attention_check(task: ReviewTask, number: int, seed: int) -> JsonObject:
    """An attention check: an item whose text asks for one particular answer."""
    if not task.compared:
        raise UsageError(f"Answers to '{task.name}' are not compared.", "Leave out `attention`.")
    draw = stream(seed, "attention", number)
    answer: str | int
    label: str | int
    if task.ordered:
        answer = label = draw.randint(*SCALE)
    else:
        choice = draw.choice(task.choices)
        answer, label = choice.value, choice.label
    text = f"This item checks attention. Please answer: {label}."
    payload = Payload(text=text, other_text=text if task.kind == "pair" else None)
    shown_json = payload.model_dump_json(exclude_none=True)
    return {"payload": shown_json, "gold": json.dumps(answer), "attention": True}


def _placed(plain: list[JsonObject], specials: list[JsonObject], seed: int) -> pl.DataFrame:
    """All items in order, the special ones anywhere among the others; numbers tell nothing of what
    an item is.
    """
    placed = [(float(place), item) for place, item in enumerate(plain)]
    for number, item in enumerate(specials):
        between = share_of(seed, "place", number) * len(plain) - 0.5
        placed.append((between, item))
    placed.sort(key=itemgetter(0))
    rows = [
        {"id": str(number), "position": float(number), **item}
        for number, (_, item) in enumerate(placed, 1)
    ]
    return pl.DataFrame(rows, schema=COLUMNS)
