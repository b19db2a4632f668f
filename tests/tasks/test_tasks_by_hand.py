"""Classes, their order and how they are spelled, of a few records."""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.tasks import Task, not_verdicts, open_task, own_task, words_of

STANCE = Task(
    "side", "For or against.",
    words_of("topic", {"for": ("For", "pro", "agrée"), "against": ("contra",), "no side": ("none",)}),
    classes=("for", "against", "no side"),
)  # fmt: skip


def records(*topics: str | None) -> pl.DataFrame:
    return pl.DataFrame(
        {"topic": topics, "meta": None}, schema={"topic": pl.String, "meta": pl.String}
    )


def test_classes_are_in_the_order_of_the_task() -> None:
    rows = records("CONTRA", "pro", "pro", None)
    assert STANCE.classes_in(rows) == ("for", "against")
    assert open_task("topic", records("b", "a", None, "c")).classes_in(records("b", "a", "b")) == (
        "a",
        "b",
    )


def test_spellings_of_a_class_and_other_values() -> None:
    rows = records("For", "AGREE", "contra", "none", "who knows", None)
    assert STANCE.labels(rows).to_list() == ["for", "for", "against", "no side", None, None]


def test_a_value_that_is_no_class_is_named() -> None:
    odd = Task("odd", "Odd.", lambda rows: rows["topic"], classes=("a", "b"))
    assert odd.labels(records("b", None, "a")).to_list() == ["b", None, "a"]
    with pytest.raises(DataError, match="does not know 'c', 'd'"):
        odd.labels(records("a", "d", "c"))


def test_a_column_is_a_task_and_an_unknown_name_is_none() -> None:
    opened = open_task("topic", records("x"))
    assert (opened.name, opened.classes) == ("topic", ())
    assert open_task("veracity").name == "veracity"
    with pytest.raises(DataError, match="no task and no column 'nothing'"):
        open_task("nothing", records("x"))


@pytest.mark.parametrize(
    ("steps", "asked", "task"),
    [
        ([], None, "veracity"),
        ([("import", {"task": "stance"})], None, "stance"),
        ([("import", {"task": "stance"})], "veracity", "veracity"),
        ([("clean", {"task": "stance"})], None, "veracity"),
        ([("import", {}), ("merge", {"task": "stance"})], None, "stance"),
    ],
)
def test_what_the_labels_are_about_is_said_by_the_step_that_made_them(
    steps: list[tuple[str, dict[str, str]]], asked: str | None, task: str
) -> None:
    lineage = [Lineage(step=step, parameters=given, seed=0) for step, given in steps]
    frame = pl.DataFrame({"id": ["1"], "text": ["A text."]})
    assert own_task(Dataset.build("made", frame, lineage=lineage), asked) == task


def test_labels_about_something_else_are_said_to_be() -> None:
    assert not_verdicts("stance").startswith("The labels are about stance, not about truth")
