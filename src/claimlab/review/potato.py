"""Potato: its data file, configuration and the state of each annotator, both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from claimlab.core.types import JsonObject
from claimlab.review.merge import DecisionRow
from claimlab.review.shapes import Item
from claimlab.review.task import SCALE, ReviewTask
from claimlab.review.tool_answers import (
    ANSWER_NAME,
    Files,
    Given,
    Lines,
    answer_of,
    by_person,
    file_name,
    item_fields,
    json_lines,
    json_text,
    label_of,
    span_of,
    with_label,
)


def potato(task: ReviewTask, items: Sequence[Item], ballots: Given) -> Files:
    """The data file, a configuration to start from, and a `user_state.json` of each annotator with
    a decision.
    """
    data = json_lines({"id": item.id, **item_fields(item)} for item in items)
    files = {"data/items.jsonl": data, "config.yaml": _potato_config(task)}
    for who, decisions in by_person(ballots).items():
        labels: dict[str, JsonObject] = {}
        spans: JsonObject = {}
        for ballot in decisions:
            if task.kind == "span":
                spans[ballot.item] = {
                    ANSWER_NAME: [with_label(task, span) for span in ballot.value]
                }
            elif task.kind == "note":
                labels[ballot.item] = {ANSWER_NAME: {"labels": {"text_box": ballot.value}}}
            else:
                labels[ballot.item] = {
                    ANSWER_NAME: {"labels": {label_of(task, ballot.value): True}}
                }
            if ballot.comment:
                comment = {"labels": {"text_box": ballot.comment}}
                labels.setdefault(ballot.item, {})["comment"] = comment
        state = {
            "user_id": who,
            "instance_id_to_label_to_value": labels,
            "instance_id_to_span_to_value": spans,
        }
        files[f"annotation_output/{file_name(who)}/user_state.json"] = json_text(state)
    return files


def _potato_config(task: ReviewTask) -> str:
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
    scheme = {"name": ANSWER_NAME, "description": task.question, **forms.get(task.kind, chosen)}
    comment = {"name": "comment", "description": "Comment", "annotation_type": "text"}
    config = {
        "annotation_task_name": task.name,
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output/",
        "annotation_schemes": [scheme, comment],
        "max_annotations_per_item": task.per_item,
    }
    return json_text(config)  # JSON is YAML


def read_potato(task: ReviewTask, lines: Lines, annotator: str) -> Iterator[DecisionRow]:
    """A `user_state.json`, or lines of `annotated_instances.jsonl`."""
    for line in lines:
        who = str(line.get("user_id") or annotator)
        if "instance_id_to_label_to_value" in line:
            labels = line["instance_id_to_label_to_value"] or {}
            spans = line.get("instance_id_to_span_to_value") or {}
            for item in dict.fromkeys([*labels, *spans]):
                of_item = labels.get(item, {}), spans.get(item, {})
                yield from _potato_row(task, str(item), who, *of_item)
            continue
        item = str(line.get("instance_id", line.get("id", "")))
        spans = line.get("span_annotations")
        of_item = line.get("label_annotations") or {}, spans if isinstance(spans, dict) else {}
        yield from _potato_row(task, item, who, *of_item)


def _potato_row(
    task: ReviewTask, item: str, who: str, labels: JsonObject, spans: JsonObject
) -> Iterator[DecisionRow]:
    chosen = _potato_labels(labels.get(ANSWER_NAME))
    comment = next(iter(_potato_labels(labels.get("comment"))), None)
    if task.kind == "span":
        marked = [
            span_of(task, s["start"], s["end"], s["label"]) for s in spans.get(ANSWER_NAME) or []
        ]
        yield DecisionRow(item, who, marked, comment=comment)
    elif chosen:
        yield DecisionRow(item, who, answer_of(task, chosen[0]), comment=comment)


def _potato_labels(answer: object) -> list[str]:
    """The labels that were chosen: Potato writes {"labels": {label: true}}, or the inner part
    alone. A text box has its text as the label, or as the value of one."""
    inner = answer.get("labels", answer) if isinstance(answer, Mapping) else {}
    chosen = [(k, v) for k, v in inner.items() if v not in (False, None, "")]
    return [str(v) if k in ("text_box", "textbox_input") else str(k) for k, v in chosen]
