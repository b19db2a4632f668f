"""True, mixed or false."""

from __future__ import annotations

from claimlab.tasks.task import Task, values_of

CLASSES = ("true", "mixed", "false")
TASK = Task(
    name="veracity-mixed",
    summary="Is it true, mixed or false? Unknown verdicts are left out.",
    read=values_of("veracity", CLASSES),
    classes=CLASSES,
    meaning={
        "true": "What the text claims is true.",
        "mixed": "Part of what the text claims is true and part is false, or it lacks context that changes it.",
        "false": "What the text claims is false or misleading.",
    },
    question="Is what this text claims true, partly true, or false?",
)
