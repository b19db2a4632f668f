"""Label Studio: its task file with annotations, and its labelling configuration, both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import quoteattr

from claimlab.core.types import JsonObject
from claimlab.review.merge import DecisionRow, time_of
from claimlab.review.shapes import Item, Value
from claimlab.review.task import SCALE, ReviewTask
from claimlab.review.tool_answers import (
    ANSWER_NAME,
    Files,
    Given,
    Lines,
    item_fields,
    json_text,
    label_of,
    span_of,
    value_of,
    with_label,
)
from claimlab.review.votes import Ballot


def label_studio(task: ReviewTask, items: Sequence[Item], ballots: Given) -> Files:
    """`tasks.json` with the annotations there are, and the labelling configuration."""
    rows: list[JsonObject] = []
    for number, item in enumerate(items, 1):
        row: JsonObject = {
            "id": number,
            "data": item_fields(item),
            "annotations": [],
            "predictions": [],
        }
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
    return {"tasks.json": json_text(rows), "config.xml": _studio_config(task)}


def _studio_result(task: ReviewTask, ballot: Ballot) -> list[JsonObject]:
    value = ballot.value
    if task.kind == "span":
        marked = [with_label(task, span) for span in value]
        values = [{"start": s["start"], "end": s["end"], "labels": [s["label"]]} for s in marked]
        parts = [(ANSWER_NAME, "labels", content) for content in values]
    elif task.kind == "note":
        parts = [(ANSWER_NAME, "textarea", {"text": [value]})]
    elif task.kind == "ordinal":
        parts = [(ANSWER_NAME, "number", {"number": value})]
    else:
        parts = [(ANSWER_NAME, "choices", {"choices": [label_of(task, value)]})]
    if ballot.comment:
        parts.append(("comment", "textarea", {"text": [ballot.comment]}))
    return [
        {"from_name": name, "to_name": "text", "type": kind, "value": content}
        for name, kind, content in parts
    ]


def _studio_config(task: ReviewTask) -> str:
    low, high = SCALE
    to = f'name="{ANSWER_NAME}" toName="text"'
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


def read_label_studio(task: ReviewTask, lines: Lines, annotator: str) -> Iterator[DecisionRow]:
    for line in lines:
        item = str(line.get("data", {}).get("item", ""))
        answers = [(False, annotation) for annotation in line.get("annotations", [])]
        answers += [(True, prediction) for prediction in line.get("predictions", [])]
        for model, given in answers:
            answer, comment = _studio_answer(task, given.get("result", []))
            if answer is None or given.get("was_cancelled"):
                continue
            person = _studio_person(given.get("completed_by"), annotator)
            yield DecisionRow(
                item,
                str(given.get("model_version")) if model else person,
                answer,
                model=model,
                comment=comment,
                seconds=given.get("lead_time"),
                at=time_of(given.get("created_at")),
            )


def _studio_person(user: object, otherwise: str) -> str:
    if isinstance(user, Mapping):
        return str(user.get("email") or user.get("username") or user.get("id"))
    return otherwise if user is None else f"user {user}"


def _studio_answer(task: ReviewTask, result: Sequence[JsonObject]) -> tuple[Value, str | None]:
    values = [part["value"] for part in result if part.get("from_name") == ANSWER_NAME]
    notes = [part["value"].get("text", []) for part in result if part.get("from_name") == "comment"]
    comment = " ".join(" ".join(note) for note in notes) or None
    if task.kind == "span":
        return [span_of(task, v["start"], v["end"], v["labels"][0]) for v in values], comment
    if not values:
        return None, comment
    if task.kind == "note":
        text = values[0].get("text", "")
        return text if isinstance(text, str) else "\n".join(text), comment
    if task.kind == "ordinal":
        return int(values[0].get("number", values[0].get("rating", -1))), comment
    return value_of(task, values[0]["choices"][0]), comment
