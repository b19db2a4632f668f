"""What annotators are asked: the question, the answers to choose from, and the rules of the review.

A task is data: it is written to `review.json` as it is, and its guideline's hash goes into the
lineage of what is decided under it. Some come with claimlab (`data/tasks.toml`), others from a file
of the same form.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from claimlab.core.digest import digest_json
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.packaged import toml
from claimlab.core.toml_file import read_raw_toml
from claimlab.core.types import JsonObject

Kind = Literal["binary", "choice", "label", "ordinal", "pair", "span", "note"]
Order = Literal["given", "random", "uncertainty"]
Adjudication = Literal["third", "discussion", "majority"]
Drops = Literal["record", "other", "both"]
CHOSEN = ("binary", "choice", "label", "pair")  # kinds whose answer is one of the choices
ORDERS: tuple[Order, ...] = get_args(Order)
ADJUDICATIONS: tuple[Adjudication, ...] = get_args(Adjudication)
NOTE_CHARACTERS = 20_000  # characters of a note or a comment
SCALE = (0, 10)
Value = str | int | list[JsonObject]


class ClosedModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerChoice(ClosedModel):
    """An answer: what is stored, what is shown, and the key that gives it. `sets` is the label that
    `apply` gives the record, `drops` which record of the item it removes."""

    value: str
    label: str
    key: str
    sets: str | None = None
    drops: Drops | None = None


class Blind(ClosedModel):
    """What annotators do not see."""

    label: bool = True  # the label that the record has
    model: bool = True  # the model's prediction
    others: bool = True  # the answers of other annotators


class Batches(ClosedModel):
    """Quality control by batches (Klie et al., 2024): a share of each is inspected, and its
    accuracy decides.
    """

    size: Annotated[int, Field(ge=1)] = 100
    share: Annotated[float, Field(gt=0, le=1)] = 0.1
    accept: Annotated[float, Field(ge=0, le=1)] = 0.9  # above: accepted
    discard: Annotated[float, Field(ge=0, le=1)] = 0.7  # below: discarded; between: returned

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.discard > self.accept:
            raise ValueError("`discard` is above `accept`")
        return self


BATCHES = Batches()  # the usual rules


class ReviewTask(ClosedModel):
    """The question and the rules. `writes` is the question under which answers go into the
    annotations table.
    """

    name: str
    kind: Kind
    question: str
    guideline: str = ""
    choices: tuple[AnswerChoice, ...] = ()
    writes: str
    positive: tuple[
        str, ...
    ] = ()  # the answers that count as yes, where bounds are wanted (feasibility)
    per_item: Annotated[int, Field(ge=1, le=50)] = 2
    blind: Blind = Blind()
    order: Order = "given"
    adjudication: Adjudication = "third"
    batches: Batches | None = None

    @model_validator(mode="after")
    def _answerable(self) -> Self:
        if self.kind in CHOSEN and len(self.choices) < 2:
            raise ValueError(f"a task of kind '{self.kind}' needs at least two choices")
        for field in ("value", "key"):
            if len({getattr(c, field) for c in self.choices}) < len(self.choices):
                raise ValueError(f"two choices have the same {field}")
        return self

    @property
    def ordered(self) -> bool:
        """Whether answers have an order, so that agreement counts how far they are apart."""
        return self.kind == "ordinal"

    @property
    def compared(self) -> bool:
        """Whether two answers can be equal: spans and notes are collected, not compared."""
        return self.kind in CHOSEN or self.kind == "ordinal"

    def guideline_hash(self) -> str:
        return digest_json(self.guideline)

    def choice(self, value: object) -> AnswerChoice | None:
        return next((c for c in self.choices if c.value == value), None)

    def check(self, value: object, text: str | None = None) -> Value:
        """`value` as it is stored; a `UsageError` where it does not answer this task. `text` is
        what spans are in.
        """
        if self.kind in CHOSEN:
            return self._chosen(value)
        if self.kind == "ordinal":
            return self._rating(value)
        if self.kind == "note":
            if isinstance(value, str) and value.strip() and len(value) <= NOTE_CHARACTERS:
                return value
            raise UsageError(
                "The note is empty or too long.", f"Write 1 to {NOTE_CHARACTERS:,} characters."
            )
        return self._spans(value, text)

    def _chosen(self, value: object) -> str:
        if isinstance(value, str) and self.choice(value) is not None:
            return value
        offered = ", ".join(f"'{c.value}'" for c in self.choices)
        raise UsageError(
            f"{value!r:.80} is not an answer to '{self.name}'.", f"Choose one of: {offered}."
        )

    def _rating(self, value: object) -> int:
        low, high = SCALE
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise UsageError(
            f"{value!r:.80} is not a rating.", f"Give a whole number from {low} to {high}."
        )

    def _spans(self, value: object, text: str | None) -> list[JsonObject]:
        labels: list[object] = [c.value for c in self.choices] or [None]
        end = NOTE_CHARACTERS if text is None else len(text)
        spans = []
        for raw in value if isinstance(value, list) else [None]:
            span: JsonObject = raw if isinstance(raw, dict) else {}
            start, stop, label = span.get("start"), span.get("end"), span.get("label")
            fits = (
                type(start) is int
                and type(stop) is int
                and 0 <= start < stop <= end
                and label in labels
            )
            if not fits:
                todo = f"Give a list of start, end (characters, up to {end}) and label."
                raise UsageError(f"{raw!r:.80} is not a span of this text.", todo)
            spans.append({"start": start, "end": stop, "label": label})
        return sorted(spans, key=lambda s: (s["start"], s["end"], s["label"] or ""))


def task_named(task: ReviewTask | str | Path, **changes: Any) -> ReviewTask:
    """A task, the name of a built-in one, or a file; `changes` (those that are not null) replace
    its fields.
    """
    chosen = task if isinstance(task, ReviewTask) else _named(str(task))
    fields = {
        **chosen.model_dump(),
        **{name: value for name, value in changes.items() if value is not None},
    }
    return _checked(fields, f"The task '{chosen.name}'")


def _named(name: str) -> ReviewTask:
    built_in = {task.name: task for task in BUILT_IN_TASKS}
    if name in built_in:
        return built_in[name]
    if not name.endswith(".toml"):
        raise UnknownName("review task", name, built_in)
    return _checked(_filled(read_raw_toml(Path(name))), f"The task file '{name}'")


def _filled(raw: JsonObject) -> JsonObject:
    """The fields of a task file with those that it may leave out: keys, labels and `writes`."""
    choices = [
        {"key": str(number), "label": choice.get("value"), **choice}
        if isinstance(choice, dict)
        else choice
        for number, choice in enumerate(raw.get("choices", []), 1)
    ]
    return {"writes": raw.get("name"), **raw, "choices": choices}


def _checked(fields: JsonObject, what: str) -> ReviewTask:
    try:
        return ReviewTask.model_validate(fields)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'task'}: {e['msg']}" for e in error.errors()[:3]
        )
        raise UsageError(
            f"{what} is not valid: {wrong}.", "Change these fields; see docs/review.md."
        ) from None


BUILT_IN_TASKS = tuple(
    ReviewTask.model_validate(_filled(raw))
    for raw in toml("claimlab.review", "tasks.toml")["tasks"]
)
