"""Label Studio, Potato and doccano: their task files and their annotation files, both ways.

Each form is a writer (items and decisions -> files) and a reader (a file's lines -> rows). Items
keep their number in `item`, which all three tools carry through; answers are written by their
labels, as annotators see them there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from claimlab.core.types import JsonObject
from claimlab.review.merge import DecisionRow, time_of
from claimlab.review.shapes import Item, Value
from claimlab.review.status import Ballot
from claimlab.review.task import SCALE, Task

NAME = "answer"  # of the control, scheme or label set in each tool
Files = dict[str, str]
Given = Mapping[str, Sequence[Ballot]]
Lines = Sequence[JsonObject]


@dataclass(frozen=True)
class Form:
    """How a tool's files are written and read, and which fields of a line only its files have."""

    write: Callable[[Task, Sequence[Item], Given], Files]
    read: Callable[[Task, Lines, str], Iterator[DecisionRow]]
    marks: Sequence[set[str]]


def form_of(line: Mapping[str, object]) -> Form | None:
    """The tool that wrote a line; null where it has the fields of none."""
    forms = (f for f in FORMS.values() if any(marks <= line.keys() for marks in f.marks))
    return next(forms, None)


def label_studio(task: Task, items: Sequence[Item], ballots: Given) -> Files:
    """`tasks.json` with the annotations there are, and the labelling configuration."""
    rows: list[JsonObject] = []
    for number, item in enumerate(items, 1):
        row: JsonObject = {"id": number, "data": _data(item), "annotations": [], "predictions": []}
        for ballot in ballots.get(item.id, []):
            result = _studio_result(task, ballot)
            if ballot.model:
                row["predictions"].append({"model_version": ballot.name, "result": result})
                continue
            annotation = {
                "completed_by": {"email": ballot.name},
                "lead_time": ballot.seconds,
                "result": result,
                "created_at": f"{ballot.at.isoformat()}Z",
            }
            row["annotations"].append(annotation)
        rows.append(row)
    return {"tasks.json": _json(rows), "config.xml": _studio_config(task)}


def _studio_result(task: Task, ballot: Ballot) -> list[JsonObject]:
    value = ballot.value
    if task.kind == "span":
        marked = [_labelled(task, span) for span in value]
        values = [{"start": s["start"], "end": s["end"], "labels": [s["label"]]} for s in marked]
        parts = [(NAME, "labels", one) for one in values]
    elif task.kind == "note":
        parts = [(NAME, "textarea", {"text": [value]})]
    elif task.kind == "ordinal":
        parts = [(NAME, "number", {"number": value})]
    else:
        parts = [(NAME, "choices", {"choices": [_label(task, value)]})]
    if ballot.comment:
        parts.append(("comment", "textarea", {"text": [ballot.comment]}))
    return [
        {"from_name": name, "to_name": "text", "type": kind, "value": one}
        for name, kind, one in parts
    ]


def _studio_config(task: Task) -> str:
    low, high = SCALE
    to = f'name="{NAME}" toName="text"'
    labels = "".join(f"<Label value={quoteattr(c.label)}/>" for c in task.choices)
    choices = "".join(
        f"<Choice value={quoteattr(c.label)} hotkey={quoteattr(c.key)}/>" for c in task.choices
    )
    control = {
        "span": f"<Labels {to}>{labels}</Labels>",
        "note": f"<TextArea {to}/>",
        "ordinal": f'<Number {to} min="{low}" max="{high}" step="1"/>',
    }.get(task.kind, f'<Choices {to} choice="single">{choices}</Choices>')
    other = '<Text name="other" value="$other_text"/>' if task.kind == "pair" else ""
    comment = '<TextArea name="comment" toName="text" placeholder="Comment"/>'
    text = f'<Header value={quoteattr(task.question)}/><Text name="text" value="$text"/>'
    return f"<View>{text}{other}{control}{comment}</View>\n"


def read_label_studio(task: Task, lines: Lines, annotator: str) -> Iterator[DecisionRow]:
    for line in lines:
        item = str(line.get("data", {}).get("item", ""))
        answers = [(False, annotation) for annotation in line.get("annotations", [])]
        answers += [(True, prediction) for prediction in line.get("predictions", [])]
        for model, one in answers:
            answer, comment = _studio_answer(task, one.get("result", []))
            if answer is None or one.get("was_cancelled"):
                continue
            person = _studio_person(one.get("completed_by"), annotator)
            yield DecisionRow(
                item,
                str(one.get("model_version")) if model else person,
                answer,
                model=model,
                comment=comment,
                seconds=one.get("lead_time"),
                at=time_of(one.get("created_at")),
            )


def _studio_person(user: object, otherwise: str) -> str:
    if isinstance(user, Mapping):
        return str(user.get("email") or user.get("username") or user.get("id"))
    return otherwise if user is None else f"user {user}"


def _studio_answer(task: Task, result: Sequence[JsonObject]) -> tuple[Value, str | None]:
    values = [one["value"] for one in result if one.get("from_name") == NAME]
    notes = [one["value"].get("text", []) for one in result if one.get("from_name") == "comment"]
    comment = " ".join(" ".join(note) for note in notes) or None
    if task.kind == "span":
        return [_span(task, v["start"], v["end"], v["labels"][0]) for v in values], comment
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
    data = json_lines({"id": item.id, **_data(item)} for item in items)
    files = {"data/items.jsonl": data, "config.yaml": _potato_config(task)}
    for who, mine in _by_person(ballots).items():
        labels: dict[str, JsonObject] = {}
        spans: JsonObject = {}
        for ballot in mine:
            if task.kind == "span":
                spans[ballot.item] = {NAME: [_labelled(task, span) for span in ballot.value]}
            elif task.kind == "note":
                labels[ballot.item] = {NAME: {"labels": {"text_box": ballot.value}}}
            else:
                labels[ballot.item] = {NAME: {"labels": {_label(task, ballot.value): True}}}
            if ballot.comment:
                comment = {"labels": {"text_box": ballot.comment}}
                labels.setdefault(ballot.item, {})["comment"] = comment
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


def read_potato(task: Task, lines: Lines, annotator: str) -> Iterator[DecisionRow]:
    """A `user_state.json`, or lines of `annotated_instances.jsonl`."""
    for line in lines:
        who = str(line.get("user_id") or annotator)
        if "instance_id_to_label_to_value" in line:
            labels = line["instance_id_to_label_to_value"] or {}
            spans = line.get("instance_id_to_span_to_value") or {}
            for item in dict.fromkeys([*labels, *spans]):
                mine = labels.get(item, {}), spans.get(item, {})
                yield from _potato_row(task, str(item), who, *mine)
            continue
        item = str(line.get("instance_id", line.get("id", "")))
        spans = line.get("span_annotations")
        mine = line.get("label_annotations") or {}, spans if isinstance(spans, dict) else {}
        yield from _potato_row(task, item, who, *mine)


def _potato_row(
    task: Task, item: str, who: str, labels: JsonObject, spans: JsonObject
) -> Iterator[DecisionRow]:
    chosen = _potato_labels(labels.get(NAME))
    comment = next(iter(_potato_labels(labels.get("comment"))), None)
    if task.kind == "span":
        marked = [_span(task, s["start"], s["end"], s["label"]) for s in spans.get(NAME) or []]
        yield DecisionRow(item, who, marked, comment=comment)
    elif chosen:
        yield DecisionRow(item, who, _read(task, chosen[0]), comment=comment)


def _potato_labels(answer: object) -> list[str]:
    """The labels that were chosen: Potato writes {"labels": {label: true}}, or the inner part
    alone. A text box has its text as the label, or as the value of one."""
    inner = answer.get("labels", answer) if isinstance(answer, Mapping) else {}
    chosen = [(k, v) for k, v in inner.items() if v not in (False, None, "")]
    return [str(v) if k in ("text_box", "textbox_input") else str(k) for k, v in chosen]


def doccano(task: Task, items: Sequence[Item], ballots: Given) -> Files:
    """A line for each item to import, and one file for each annotator, as doccano exports them."""
    files = {"import.jsonl": json_lines({**_data(item), "label": []} for item in items)}
    by_id = {item.id: item for item in items}
    for who, mine in _by_person(ballots).items():
        lines = [
            {
                "id": number,
                **_data(by_id[ballot.item]),
                "label": _doccano_label(task, ballot.value),
                "Comments": [ballot.comment] if ballot.comment else [],
            }
            for number, ballot in enumerate(mine, 1)
        ]
        files[f"{file_name(who)}.jsonl"] = json_lines(lines)
    return files


def _doccano_label(task: Task, value: Value) -> list[Value]:
    if task.kind == "span":
        return [[s["start"], s["end"], _label(task, s["label"])] for s in value]
    return [_label(task, value)]


def read_doccano(task: Task, lines: Lines, annotator: str) -> Iterator[DecisionRow]:
    """Lines with `label`; the annotator is the name of the file. A line without a label is an item
    not worked on.
    """
    for line in lines:
        item = str(line.get("item", line.get("meta", {}).get("item", "")))
        labels = line.get("label", line.get("labels", [])) or []
        comment = " ".join(map(str, line.get("Comments") or [])) or None
        if labels and task.kind == "span":
            yield DecisionRow(
                item, annotator, [_span(task, *s[:3]) for s in labels], comment=comment
            )
        elif labels:
            yield DecisionRow(item, annotator, _read(task, str(labels[0])), comment=comment)


def _data(item: Item) -> JsonObject:
    """What annotators read; nothing that the task hides, and no gold answer."""
    shown, model = item.payload, item.payload.model
    evidence = [" ".join(filter(None, (p.title, p.text, p.url))) for p in shown.context]
    fields = {
        "text": shown.text or "",
        "other_text": shown.other_text,
        "old_label": shown.label,
        "other_label": shown.other_label,
        "evidence": "\n\n".join(evidence) or None,
        "model": model and (" ".join(filter(None, (model.label, model.rationale))) or None),
        "item": item.id,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _by_person(ballots: Given) -> dict[str, list[Ballot]]:
    """The decisions of each annotator, by name."""
    every = [ballot for votes in ballots.values() for ballot in votes]
    return {who: [b for b in every if b.name == who] for who in sorted({b.name for b in every})}


def _label(task: Task, value: Value) -> str:
    choice = task.choice(value)
    return str(value) if choice is None else choice.label


def _labelled(task: Task, span: JsonObject) -> JsonObject:
    return {**span, "label": _label(task, span["label"])}


def _value(task: Task, label: str) -> str:
    return next((c.value for c in task.choices if c.label == label), label)


def _span(task: Task, start: int, end: int, label: str) -> JsonObject:
    return {"start": start, "end": end, "label": _value(task, label)}


def _read(task: Task, label: str) -> str | int:
    """The answer that a label stands for; ratings are numbers."""
    answer = _value(task, label)
    return int(answer) if task.ordered and answer.isdigit() else answer


def file_name(name: str) -> str:
    """A name as a file can have it; `unquote` gives it back."""
    return quote(name, safe="")


def json_lines(rows: Iterable[JsonObject]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


FORMS = {
    "label-studio": Form(label_studio, read_label_studio, [{"annotations", "data"}]),
    "potato": Form(potato, read_potato, [{"instance_id_to_label_to_value"}, {"label_annotations"}]),
    "doccano": Form(doccano, read_doccano, [{"label"}, {"labels"}]),
}
