"""doccano: its file to import and the file of each annotator, both ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claimlab.review.merge import DecisionRow
from claimlab.review.shapes import Item, Value
from claimlab.review.task import ReviewTask
from claimlab.review.tool_answers import (
    Files,
    Given,
    Lines,
    answer_of,
    by_person,
    file_name,
    item_fields,
    json_lines,
    label_of,
    span_of,
)


def doccano(task: ReviewTask, items: Sequence[Item], ballots: Given) -> Files:
    """A line for each item to import, and one file for each annotator, as doccano exports them."""
    files = {"import.jsonl": json_lines({**item_fields(item), "label": []} for item in items)}
    by_id = {item.id: item for item in items}
    for who, decisions in by_person(ballots).items():
        lines = [
            {
                "id": number,
                **item_fields(by_id[ballot.item]),
                "label": _doccano_label(task, ballot.value),
                "Comments": [ballot.comment] if ballot.comment else [],
            }
            for number, ballot in enumerate(decisions, 1)
        ]
        files[f"{file_name(who)}.jsonl"] = json_lines(lines)
    return files


def _doccano_label(task: ReviewTask, value: Value) -> list[Value]:
    if task.kind == "span":
        return [[s["start"], s["end"], label_of(task, s["label"])] for s in value]
    return [label_of(task, value)]


def read_doccano(task: ReviewTask, lines: Lines, annotator: str) -> Iterator[DecisionRow]:
    """Lines with `label`; the annotator is the name of the file. A line without a label is an item
    not worked on.
    """
    for line in lines:
        item = str(line.get("item", line.get("meta", {}).get("item", "")))
        labels = line.get("label", line.get("labels", [])) or []
        comment = " ".join(map(str, line.get("Comments") or [])) or None
        if labels and task.kind == "span":
            yield DecisionRow(
                item, annotator, [span_of(task, *s[:3]) for s in labels], comment=comment
            )
        elif labels:
            yield DecisionRow(item, annotator, answer_of(task, str(labels[0])), comment=comment)
