"""True or false; mixed and unknown are no part of it."""

from __future__ import annotations

from claimlab.tasks.task import Task, values_of

CLASSES = ("true", "false")
TASK = Task(
    name="veracity",
    summary="Is it true or false? Mixed and unknown verdicts are left out.",
    read=values_of("veracity", CLASSES),
    classes=CLASSES,
    meaning={"true": "What the text claims is true.", "false": "What the text claims is false or misleading."},
    question="Is what this text claims true or false?",
    positive="false",
)
