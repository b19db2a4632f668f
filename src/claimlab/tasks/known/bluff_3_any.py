"""BLUFF task 3, wide reading: "machine" is any text that a machine had a hand in (MGT, MTT or HAT)."""

from __future__ import annotations

from claimlab.tasks.known._bluff import by_author
from claimlab.tasks.task import Task

TASK = Task(
    name="bluff-3-any",
    summary="BLUFF task 3, wide: human (HWT) or any machine (MGT, MTT or HAT).",
    read=by_author({"HWT": "human", "MGT": "machine", "MTT": "machine", "HAT": "machine"}),
    classes=("human", "machine"),
    meaning={
        "human": "A person wrote the text, and no machine touched it.",
        "machine": "A machine wrote, translated or altered the text.",
    },
    question="Did a machine have a hand in this text?",
    positive="machine",
)
