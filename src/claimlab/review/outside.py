"""Label Studio, Potato and doccano: their task files and their annotation files, both ways.

Each form is a writer (items and decisions -> files) and a reader (a file's content -> rows). Items
keep their number in `item`, which all three tools carry through; answers are written by their
labels, as annotators see them there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from claimlab.core.types import JsonObject
from claimlab.review.merge import Row, time_of
from claimlab.review.shapes import Item
from claimlab.review.task import SCALE, Task
from claimlab.review.votes import Ballot

NAME = "answer"  # of the control, scheme or label set in each tool
Files = dict[str, str]
Given = Mapping[str, Sequence[Ballot]]


@dataclass(frozen=True)
class Form:
    """How a tool's files are written and read."""

    title: str
    write: Callable[[Task, Sequence[Item], Given], Files]
    read: Callable[[Task, Any, str], Iterator[Row]]


def label_studio(task: Task, items: Sequence[Item], ballots: Given) -> Files:
    """`tasks.json` with the annotations there are, and the labelling configuration."""
    rows = []
    for n, item in enumerate(items, 1):
        votes = ballots.get(item.id, [])
        annotations = [
            {
                "completed_by": {"email": b.name},
                "lead_time": b.seconds,
                "result": _studio_result(task, b),
                "created_at": f"{b.at.isoformat()}Z",
            }
            for b in votes
            if not b.model
        ]
        predictions = [
            {"model_version": b.name, "result": _studio_result(task, b)} for b in votes if b.model
        ]
        rows.append(
            {"id": n, "data": _data(item), "annotations": annotations, "predictions": predictions}
        )
    return {"tasks.json": _json(rows), "config.xml": _studio_config(task)}


def _studio_result(task: Task, ballot: Ballot) -> list[JsonObject]:
    names = {"from_name": NAME, "to_name": "text"}
    kind, value = ballot.value, ballot.value
    if task.kind == "span":
        out = [
            {
                **names,
                "type": "labels",
                "value": {
                    "start": s["start"],
                    "end": s["end"],
                    "labels": [_label(task, s["label"])],
                },
            }
            for s in kind
        ]
    elif task.kind == "note":
        out = [{**names, "type": "textarea", "value": {"text": [value]}}]
    elif task.kind == "ordinal":
        out = [{**names, "type": "number", "value": {"number": value}}]
    else:
        out = [{**names, "type": "choices", "value": {"choices": [_label(task, value)]}}]
    if ballot.comment:
        out.append(
            {
                "from_name": "comment",
                "to_name": "text",
                "type": "textarea",
                "value": {"text": [ballot.comment]},
            }
        )
    return out


def _studio_config(task: Task) -> str:
    low, high = SCALE
    control = {
        "span": (
            f'<Labels name="{NAME}" toName="text">'
            + "".join(f"<Label value={quoteattr(c.label)}/>" for c in task.choices)
            + "</Labels>"
        ),
        "note": f'<TextArea name="{NAME}" toName="text"/>',
        "ordinal": f'<Number name="{NAME}" toName="text" min="{low}" max="{high}" step="1"/>',
    }.get(task.kind) or f'<Choices name="{NAME}" toName="text" choice="single">' + "".join(
        f"<Choice value={quoteattr(c.label)} hotkey={quoteattr(c.key)}/>" for c in task.choices
    ) + "</Choices>"
    other = '<Text name="other" value="$other_text"/>' if task.kind == "pair" else ""
    comment = '<TextArea name="comment" toName="text" placeholder="Comment"/>'
    text = f'<Header value={quoteattr(task.question)}/><Text name="text" value="$text"/>'
    return f"<View>{text}{other}{control}{comment}</View>\n"


def read_label_studio(task: Task, content: Any, annotator: str) -> Iterator[Row]:
    for row in content if isinstance(content, list) else [content]:
        item = str(row.get("data", {}).get("item", ""))
        for model, annotation in [(False, a) for a in row.get("annotations", [])] + [
            (True, p) for p in row.get("predictions", [])
        ]:
            if annotation.get("was_cancelled"):
                continue
            answer, comment = _studio_answer(task, annotation.get("result", []))
            who = (
                annotation.get("model_version")
                if model
                else _studio_person(annotation.get("completed_by"), annotator)
            )
            if answer is not None:
                seconds, at = annotation.get("lead_time"), time_of(annotation.get("created_at"))
                yield Row(
                    item, str(who), answer, model=model, comment=comment, seconds=seconds, at=at
                )


def _studio_person(user: Any, otherwise: str) -> str:
    if isinstance(user, Mapping):
        return str(user.get("email") or user.get("username") or user.get("id"))
    return otherwise if user is None else f"user {user}"


def _studio_answer(task: Task, result: Sequence[Mapping[str, Any]]) -> tuple[Any, str | None]:
    values = [r["value"] for r in result if r.get("from_name") == NAME]
    notes = [
        " ".join(r["value"].get("text", [])) for r in result if r.get("from_name") == "comment"
    ]
    comment = " ".join(notes) or None
    if task.kind == "span":
        return [
            {"start": v["start"], "end": v["end"], "label": _value(task, v["labels"][0])}
            for v in values
        ], comment
    if not values:
        return None, comment
    if task.kind == "note":
        text = values[0].get("text", "")
        return text if isinstance(text, str) else "\n".join(text), comment
    if task.kind == "ordinal":
        return int(values[0].get("number", values[0].get("rating", -1))), comment
    return _value(task, values[0]["choices"][0]), comment


def potato(task: Task, items: Sequence[Item], ballots: Given) -> Files:
    """The data file, a configuration to start from, and a `user_state.json` of each annotator with
    a decision.
    """
    data = "".join(json.dumps({"id": item.id, **_data(item)}) + "\n" for item in items)
    files = {"data/items.jsonl": data, "config.yaml": _potato_config(task)}
    people = sorted({b.name for votes in ballots.values() for b in votes})
    for who in people:
        labels: JsonObject = {}
        spans: JsonObject = {}
        for item, votes in ballots.items():
            for b in votes:
                if b.name == who and task.kind == "span":
                    spans[item] = {
                        NAME: [{**s, "label": _label(task, s["label"])} for s in b.value]
                    }
                elif b.name == who:
                    answer = (
                        {"text_box": b.value}
                        if task.kind == "note"
                        else {_label(task, b.value): True}
                    )
                    labels[item] = {NAME: {"labels": answer}}
                if b.name == who and b.comment:
                    labels.setdefault(item, {})["comment"] = {"labels": {"text_box": b.comment}}
        state = {
            "user_id": who,
            "instance_id_to_label_to_value": labels,
            "instance_id_to_span_to_value": spans,
        }
        files[f"annotation_output/{file_name(who)}/user_state.json"] = _json(state)
    return files


def _potato_config(task: Task) -> str:
    low, high = SCALE
    forms: dict[str, JsonObject] = {
        "span": {"annotation_type": "span", "labels": [c.label for c in task.choices]},
        "note": {"annotation_type": "text"},
        "ordinal": {"annotation_type": "radio", "labels": [str(n) for n in range(low, high + 1)]},
    }
    chosen = {
        "annotation_type": "radio",
        "labels": [{"name": c.label, "key_value": c.key} for c in task.choices],
    }
    scheme = {"name": NAME, "description": task.question, **forms.get(task.kind, chosen)}
    comment = {"name": "comment", "description": "Comment", "annotation_type": "text"}
    config = {
        "annotation_task_name": task.name,
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output/",
        "annotation_schemes": [scheme, comment],
        "max_annotations_per_item": task.per_item,
    }
    return _json(config)  # JSON is YAML


def read_potato(task: Task, content: Any, annotator: str) -> Iterator[Row]:
    """A `user_state.json`, or lines of `annotated_instances.jsonl`."""
    if isinstance(content, Mapping) and "instance_id_to_label_to_value" in content:
        who = str(content.get("user_id") or annotator)
        labels = content["instance_id_to_label_to_value"] or {}
        spans = content.get("instance_id_to_span_to_value") or {}
        for item in dict.fromkeys([*labels, *spans]):
            yield from _potato_row(task, str(item), who, labels.get(item, {}), spans.get(item, {}))
        return
    for line in content if isinstance(content, list) else [content]:
        item = str(line.get("instance_id", line.get("id", "")))
        spans = line.get("span_annotations") or {}
        who = str(line.get("user_id") or annotator)
        yield from _potato_row(
            task,
            item,
            who,
            line.get("label_annotations") or {},
            spans if isinstance(spans, dict) else {},
        )


def _potato_row(task: Task, item: str, who: str, labels: Any, spans: Any) -> Iterator[Row]:
    chosen = _potato_labels(labels.get(NAME))
    comment = next(iter(_potato_labels(labels.get("comment"))), None)
    if task.kind == "span":
        marked = spans.get(NAME) or []
        spans_of_item = [
            {"start": s["start"], "end": s["end"], "label": _value(task, s["label"])}
            for s in marked
        ]
        yield Row(item, who, spans_of_item, comment=comment)
    elif chosen:
        answer = _value(task, chosen[0])
        yield Row(
            item, who, int(answer) if task.ordered and answer.isdigit() else answer, comment=comment
        )


def _potato_labels(answer: Any) -> list[str]:
    """The labels that were chosen: Potato writes {"labels": {label: true}}, or the inner part
    alone. A text box has its text as the label, or as the value of one."""
    inner = answer.get("labels", answer) if isinstance(answer, Mapping) else {}
    chosen = [(k, v) for k, v in inner.items() if v not in (False, None, "")]
    return [str(v) if k in ("text_box", "textbox_input") else str(k) for k, v in chosen]


def doccano(task: Task, items: Sequence[Item], ballots: Given) -> Files:
    """A line for each item to import, and one file for each annotator, as doccano exports them."""
    files = {
        "import.jsonl": "".join(json.dumps({**_data(item), "label": []}) + "\n" for item in items)
    }
    by = {item.id: item for item in items}
    for who in sorted({b.name for votes in ballots.values() for b in votes}):
        mine = [(by[i], b) for i, votes in ballots.items() for b in votes if b.name == who]
        lines = [
            {
                "id": n,
                **_data(item),
                "label": _doccano_label(task, b.value),
                "Comments": [b.comment] if b.comment else [],
            }
            for n, (item, b) in enumerate(mine, 1)
        ]
        files[f"{file_name(who)}.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines)
    return files


def _doccano_label(task: Task, value: Any) -> list[Any]:
    if task.kind == "span":
        return [[s["start"], s["end"], _label(task, s["label"])] for s in value]
    return [_label(task, value)]


def read_doccano(task: Task, content: Any, annotator: str) -> Iterator[Row]:
    """Lines with `label`; the annotator is the name of the file. A line without a label is an item
    not worked on.
    """
    for line in content if isinstance(content, list) else [content]:
        item = str(line.get("item", line.get("meta", {}).get("item", "")))
        labels = line.get("label", line.get("labels", [])) or []
        comment = " ".join(map(str, line.get("Comments") or [])) or None
        if labels and task.kind == "span":
            spans = [{"start": s[0], "end": s[1], "label": _value(task, s[2])} for s in labels]
            yield Row(item, annotator, spans, comment=comment)
        elif labels:
            answer = _value(task, str(labels[0]))
            yield Row(
                item,
                annotator,
                int(answer) if task.ordered and answer.isdigit() else answer,
                comment=comment,
            )


def _data(item: Item) -> JsonObject:
    """What annotators read; nothing that the task hides, and no gold answer."""
    shown = item.payload
    more = {
        "other_text": shown.other_text,
        "old_label": shown.label,
        "other_label": shown.other_label,
    }
    evidence = "\n\n".join(" ".join(filter(None, (p.title, p.text, p.url))) for p in shown.context)
    model = (
        ""
        if shown.model is None
        else " ".join(filter(None, (shown.model.label, shown.model.rationale)))
    )
    fields = {
        "text": shown.text or "",
        **more,
        "evidence": evidence or None,
        "model": model or None,
        "item": item.id,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _label(task: Task, value: Any) -> str:
    choice = task.choice(value)
    return str(value) if choice is None else choice.label


def _value(task: Task, label: str) -> str:
    return next((c.value for c in task.choices if c.label == label), label)


def file_name(name: str) -> str:
    """A name as a file can have it; `unquote` gives it back."""
    return quote(name, safe="")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


FORMS = {
    "label-studio": Form("Label Studio", label_studio, read_label_studio),
    "potato": Form("Potato", potato, read_potato),
    "doccano": Form("doccano", doccano, read_doccano),
}
