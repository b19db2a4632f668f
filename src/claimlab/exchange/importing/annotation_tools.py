"""Exports of annotation tools as plain rows: one for each annotator of an item, with the answer to
each question in a column of its name. Label Studio, Prodigy, Argilla, INCEpTION and Potato nest
what an annotator said below the item; doccano and the flat exports of the others need nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from claimlab.core.types import JsonObject
from claimlab.files.raw import RawTable, typed_table

ANNOTATOR = "annotator"
ANSWER = "label"  # the column of an answer whose question has no name
_OWN_TYPES = ("uima.", "de.tudarmstadt.")  # of INCEpTION: tokens, sentences, the text itself


class AnnotationTool(NamedTuple):
    """A tool, the fields by which its export is known, and how its items become rows."""

    name: str
    fields: frozenset[str]
    rows: Callable[[JsonObject], Iterable[JsonObject]]


def plain_rows(table: RawTable) -> RawTable:
    """The table with a row for each annotator, where a tool wrote it; or else the table itself."""
    columns = set(table.frame.columns)
    tool = next((tool for tool in TOOLS if tool.fields <= columns), None)
    if tool is None:
        return table
    items = [
        {n: _value(v) if n in table.literal and v else v for n, v in row.items()}
        for row in table.frame.iter_rows(named=True)
    ]
    try:
        rows = [row for item in items for row in tool.rows(item)]
    except (AttributeError, TypeError, KeyError, IndexError, ValueError):
        return table  # fields of the same names, of another program
    if not rows:
        return table
    plain = typed_table(rows, table.name, table.layout, table.refused)
    plain.called, plain.beside = table.called, table.beside
    note = f"'{table.name}' is an export of {tool.name}: a row for each annotator of an item."
    plain.notes = [*table.notes, note]
    return plain


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _label_studio(item: JsonObject) -> Iterator[JsonObject]:
    """Tasks with their annotations; those that an annotator cancelled say nothing."""
    about = {**_plain(item["data"]), "id": item.get("id")}
    annotations = item["annotations"] or []
    done = [one for one in annotations if not one.get("was_cancelled")]
    for one in done or [{}]:
        answers: JsonObject = {}
        for result in one.get("result", ()):
            answer = _chosen(result.get("value", {}))
            if answer is not None:
                answers[result.get("from_name", ANSWER)] = answer
        yield {**about, **answers, ANNOTATOR: _person(one.get("completed_by"))}


def _chosen(value: Mapping[str, object]) -> object:
    """What was chosen of a text as a whole: labels of places in it are none of it."""
    if "start" in value:
        return None
    choices = value.get("choices") or value.get("rating") or value.get("text")
    return ",".join(map(str, choices)) if isinstance(choices, list) else choices


def _person(who: object) -> object:
    if isinstance(who, Mapping):
        return who.get("email") or who.get("username") or who.get("id")
    return who


def _prodigy(item: JsonObject) -> Iterator[JsonObject]:
    """One answer a line: a choice that was accepted, or a label that was accepted or rejected."""
    answer, accepted = item["answer"], item.get("accept")
    label = item.get("label")
    if answer not in ("accept", "reject", "ignore"):
        raise ValueError(answer)
    if isinstance(accepted, list):
        label = ",".join(map(str, accepted)) or None
    elif answer == "reject" and label is not None:
        label = f"not {label}"
    kept = {n: v for n, v in item.items() if n in ("text", "id") or (n == "meta" and v)}
    who = item.get("_annotator_id") or item.get("_session_id")
    yield {**kept, ANSWER: None if answer == "ignore" else label, ANNOTATOR: who}


def _argilla(item: JsonObject) -> Iterator[JsonObject]:
    """Records with the responses of each user, in either of two layouts."""
    about = {**_plain(item["fields"]), "id": item.get("external_id") or item.get("id")}
    responses = item["responses"] or []
    answers: dict[object, JsonObject] = {}
    if isinstance(responses, Mapping):
        for question, given in responses.items():
            for one in given:
                answers.setdefault(one.get("user_id"), {})[question] = one["value"]
    else:
        for one in responses:
            if one.get("status", "submitted") == "submitted":
                values = {name: value["value"] for name, value in (one["values"] or {}).items()}
                answers.setdefault(one.get("user_id"), {}).update(values)
    for user, said in answers.items() or [(None, {})]:
        yield {**about, **said, ANNOTATOR: user}


def _inception(item: JsonObject) -> Iterator[JsonObject]:
    """A document with the values of its own layers."""
    structures = item["%FEATURE_STRUCTURES"]
    row: JsonObject = {}
    for one in structures:
        if one["%TYPE"] == "uima.cas.Sofa":
            row["text"] = one["sofaString"]
        elif not one["%TYPE"].startswith(_OWN_TYPES):
            said = {n: v for n, v in one.items() if n[0] not in "%@" and isinstance(v, str)}
            row |= {n: v for n, v in said.items() if n not in ("begin", "end")}
    yield row


def _potato(item: JsonObject) -> Iterator[JsonObject]:
    """What one user said of one instance: a mark under each answer that was chosen."""
    said = {}
    for question, marks in item["label_annotations"].items():
        chosen = [name for name, mark in marks.items() if mark not in (None, "", False, "false")]
        said[question] = ",".join(chosen) or None
    about = {"id": item["instance_id"], "text": item.get("displayed_text") or item.get("text")}
    yield {**about, **said, ANNOTATOR: item.get("user_id") or item.get("user")}


def _plain(fields: object) -> JsonObject:
    return {str(n): v for n, v in fields.items()} if isinstance(fields, Mapping) else {}


TOOLS = (
    AnnotationTool("Label Studio", frozenset({"annotations", "data"}), _label_studio),
    AnnotationTool("Argilla", frozenset({"fields", "responses"}), _argilla),
    AnnotationTool("INCEpTION", frozenset({"%FEATURE_STRUCTURES"}), _inception),
    AnnotationTool("Potato", frozenset({"instance_id", "label_annotations"}), _potato),
    AnnotationTool("Prodigy", frozenset({"text", "answer", "_task_hash"}), _prodigy),
    AnnotationTool("Prodigy", frozenset({"text", "answer", "accept"}), _prodigy),
)
