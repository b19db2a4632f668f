"""The tools of others whose files a review writes and reads: Label Studio, Potato and doccano. Each
form is a writer (items and decisions -> files) and a reader (a file's lines -> rows).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from claimlab.review.doccano import doccano, read_doccano
from claimlab.review.label_studio import label_studio, read_label_studio
from claimlab.review.merge import DecisionRow
from claimlab.review.potato import potato, read_potato
from claimlab.review.shapes import Item
from claimlab.review.task import ReviewTask
from claimlab.review.tool_answers import (
    Files,
    Given,
    Lines,
)


@dataclass(frozen=True)
class Form:
    """How a tool's files are written and read, and which fields of a line only its files have."""

    write: Callable[[ReviewTask, Sequence[Item], Given], Files]
    read: Callable[[ReviewTask, Lines, str], Iterator[DecisionRow]]
    marks: Sequence[set[str]]


def form_of(line: Mapping[str, object]) -> Form | None:
    """The tool that wrote a line; null where it has the fields of none."""
    forms = (f for f in FORMS.values() if any(marks <= line.keys() for marks in f.marks))
    return next(forms, None)


FORMS = {
    "label-studio": Form(label_studio, read_label_studio, [{"annotations", "data"}]),
    "potato": Form(potato, read_potato, [{"instance_id_to_label_to_value"}, {"label_annotations"}]),
    "doccano": Form(doccano, read_doccano, [{"label"}, {"labels"}]),
}
