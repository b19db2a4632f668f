from __future__ import annotations

import pytest
from pydantic import ValidationError

from claimlab.core.errors import UsageError
from claimlab.review.task import AnswerChoice, Batches, ReviewTask

YES_NO = (
    AnswerChoice(value="yes", label="Yes", key="1"),
    AnswerChoice(value="no", label="No", key="2"),
)


def task(kind: str, **more: object) -> ReviewTask:
    return ReviewTask.model_validate(
        {"name": "t", "kind": kind, "question": "Is it?", "writes": "t", **more}
    )


def test_a_choice_is_one_of_the_choices() -> None:
    binary = task("binary", choices=YES_NO)
    assert binary.check("yes") == "yes"
    for wrong in ("maybe", None, 1, ["yes"]):
        with pytest.raises(UsageError, match="Choose one of: 'yes', 'no'"):
            binary.check(wrong)


def test_a_rating_is_a_whole_number_from_0_to_10() -> None:
    rating = task("ordinal")
    assert [rating.check(n) for n in (0, 10)] == [0, 10]
    for wrong in (-1, 11, 3.5, "3", True, None):
        with pytest.raises(UsageError, match="whole number from 0 to 10"):
            rating.check(wrong)


def test_spans_lie_in_the_text_and_are_sorted() -> None:
    spans = task("span", choices=YES_NO)
    given = [{"start": 5, "end": 7, "label": "no"}, {"start": 0, "end": 3, "label": "yes"}]
    assert [s["start"] for s in spans.check(given, "a short text")] == [0, 5]  # type: ignore[index]
    for wrong in (
        {"start": 3, "end": 3, "label": "no"},
        {"start": 0, "end": 99, "label": "no"},
        {"start": 0, "end": 2},
    ):
        with pytest.raises(UsageError, match="not a span"):
            spans.check([wrong], "a short text")


def test_a_task_that_cannot_be_answered_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least two choices"):
        task("binary")
    with pytest.raises(ValidationError, match="same key"):
        task("binary", choices=(YES_NO[0], AnswerChoice(value="no", label="No", key="1")))
    with pytest.raises(ValidationError, match="above `accept`"):
        Batches(accept=0.5, discard=0.6)


def test_another_guideline_has_another_hash() -> None:
    one, other = (task("note", guideline=g).guideline_hash() for g in ("Be strict.", "Be lenient."))
    assert one != other
