"""The tasks that come with claimlab, and tasks from a file (TOML with the fields of `Task`)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from claimlab.core.errors import UnknownName, UnreadableFile, UsageError
from claimlab.core.record import VERACITIES
from claimlab.core.types import JsonObject
from claimlab.review.task import Blind, Choice, Task

SEES_LABEL = Blind(label=False)
SEES_MODEL = Blind(model=False)


def choices(*rows: tuple[str, str] | tuple[str, str, JsonObject]) -> tuple[Choice, ...]:
    """Choices with the keys 1, 2, ...; a third element says what an answer does to the record."""
    return tuple(
        Choice(value=row[0], label=row[1], key=str(n), **(row[2] if len(row) > 2 else {}))
        for n, row in enumerate(rows, 1)
    )


KNOWN = (
    Task(
        name="label",
        kind="label",
        question="Which label is right?",
        guideline=(
            "Decide by the text and the evidence beside it. Remove what cannot be labelled at all."
        ),
        choices=choices(
            *((v, v.capitalize(), {"sets": v}) for v in VERACITIES),
            ("remove", "Remove the record", {"drops": "record"}),
        ),
        writes="veracity",
    ),
    Task(
        name="keep",
        kind="binary",
        question="Does this record belong in the dataset?",
        guideline="Remove what is damaged, empty, in the wrong language or not a claim at all.",
        choices=choices(("keep", "Keep"), ("remove", "Remove", {"drops": "record"})),
        writes="keep",
    ),
    Task(
        name="feasibility",
        kind="choice",
        question="Can the truth of this be determined?",
        # After appendix C.3 of "A Guide to Misinformation Detection Data and Evaluation".
        guideline=(
            "Feasible: the statement says enough to determine its truth. Feasible with web search:"
            " something is missing that a search would find. Not feasible: too vague or incomplete"
            " for a search to settle it; one counterexample, two contexts that it could be about,"
            " is enough."
        ),
        choices=choices(
            ("feasible", "Feasible"),
            ("feasible with web search", "Feasible with web search"),
            ("not feasible", "Not feasible"),
        ),
        writes="feasibility",
        positive=("feasible", "feasible with web search"),
    ),
    Task(
        name="rationale",
        kind="choice",
        question="Is what the system says about this wrong?",
        # After appendix D.3 of the same paper.
        guideline=(
            "Read the statement, the system's rationale and the evidence. Judge the rationale, not"
            " the label."
        ),
        choices=choices(
            ("wrong", "Wrong"),
            ("open", "Uncertain or open to interpretation"),
            ("not wrong", "Not wrong"),
        ),
        writes="rationale",
        blind=SEES_MODEL,
        adjudication="discussion",
    ),
    Task(
        name="conflict",
        kind="pair",
        question=(
            "These two are nearly the same and have different labels. Which one is to be kept?"
        ),
        guideline=(
            "Keep both only where they make different claims. Where neither label can be trusted,"
            " remove both."
        ),
        choices=choices(
            ("both", "Keep both: different claims"),
            ("first", "Keep the first", {"drops": "other"}),
            ("second", "Keep the second", {"drops": "record"}),
            ("neither", "Remove both", {"drops": "both"}),
        ),
        writes="conflict",
        blind=SEES_LABEL,
    ),
    Task(
        name="duplicate",
        kind="pair",
        question="Do these two say the same?",
        choices=choices(("same", "The same", {"drops": "other"}), ("different", "Different")),
        writes="duplicate",
    ),
    Task(
        name="rating",
        kind="ordinal",
        question="How much is this worth checking, from 0 (not at all) to 10 (at once)?",
        guideline=(
            "Think of how many would see it, how many would believe it, and what harm that"
            " would do."
        ),
        writes="check-worthiness",
    ),
    Task(
        name="spans",
        kind="span",
        question="Which parts of the text make a claim that can be checked?",
        guideline="Mark each claim as short as it can be understood.",
        choices=choices(("claim", "Claim"), ("opinion", "Opinion")),
        writes="spans",
        adjudication="third",
    ),
    Task(name="note", kind="note", question="What do you notice?", writes="note", per_item=1),
)


def task_named(task: Task | str | Path, **changes: Any) -> Task:
    """A task, the name of a built-in one, or a file; `changes` (those that are not null) replace
    its fields.
    """
    chosen = task if isinstance(task, Task) else _named(str(task))
    fields = {
        **chosen.model_dump(),
        **{name: value for name, value in changes.items() if value is not None},
    }
    return _checked(fields, f"The task '{chosen.name}'")


def _named(name: str) -> Task:
    known = {task.name: task for task in KNOWN}
    if name in known:
        return known[name]
    if not name.endswith(".toml"):
        raise UnknownName("review task", name, known)
    try:
        raw = tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(
            f"The task file '{name}' cannot be read: {error}.", "Write it as TOML."
        ) from None
    for n, choice in enumerate(raw.get("choices", []), 1):
        if isinstance(choice, dict):
            choice.setdefault("key", str(n))
            choice.setdefault("label", choice.get("value"))
    raw.setdefault("writes", raw.get("name"))
    return _checked(raw, f"The task file '{name}'")


def _checked(fields: JsonObject, what: str) -> Task:
    try:
        return Task.model_validate(fields)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'task'}: {e['msg']}" for e in error.errors()[:3]
        )
        raise UsageError(
            f"{what} is not valid: {wrong}.", "Change these fields; see docs/review.md."
        ) from None
