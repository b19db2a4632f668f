"""Answers, labels and spans as the tools of others write them: by their labels, as annotators see
them there. Items keep their number in `item`, which all tools carry through.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from claimlab.core.types import JsonObject
from claimlab.review.shapes import Item, Value
from claimlab.review.task import ReviewTask
from claimlab.review.votes import Ballot

ANSWER_NAME = "answer"  # of the control, scheme or label set in each tool
Files = dict[str, str]
Given = Mapping[str, Sequence[Ballot]]
Lines = Sequence[JsonObject]


def item_fields(item: Item) -> JsonObject:
    """What annotators read; nothing that the task hides, and no gold answer."""
    payload, model = item.payload, item.payload.model
    evidence = [" ".join(filter(None, (p.title, p.text, p.url))) for p in payload.context]
    fields = {
        "text": payload.text or "",
        "other_text": payload.other_text,
        "old_label": payload.label,
        "other_label": payload.other_label,
        "evidence": "\n\n".join(evidence) or None,
        "model": model and (" ".join(filter(None, (model.label, model.rationale))) or None),
        "item": item.id,
    }
    return {name: value for name, value in fields.items() if value is not None}


def by_person(ballots: Given) -> dict[str, list[Ballot]]:
    """The decisions of each annotator, by name."""
    every = [ballot for votes in ballots.values() for ballot in votes]
    return {who: [b for b in every if b.name == who] for who in sorted({b.name for b in every})}


def label_of(task: ReviewTask, value: Value) -> str:
    choice = task.choice(value)
    return str(value) if choice is None else choice.label


def with_label(task: ReviewTask, span: JsonObject) -> JsonObject:
    return {**span, "label": label_of(task, span["label"])}


def value_of(task: ReviewTask, label: str) -> str:
    return next((c.value for c in task.choices if c.label == label), label)


def span_of(task: ReviewTask, start: int, end: int, label: str) -> JsonObject:
    return {"start": start, "end": end, "label": value_of(task, label)}


def answer_of(task: ReviewTask, label: str) -> str | int:
    """The answer that a label stands for; ratings are numbers."""
    answer = value_of(task, label)
    return int(answer) if task.ordered and answer.isdigit() else answer


def file_name(name: str) -> str:
    """A name as a file can have it; `unquote` gives it back."""
    return quote(name, safe="")


def json_lines(rows: Iterable[JsonObject]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
