"""BLUFF task 3, narrow reading: "machine" is text that a machine wrote (MGT)."""

from __future__ import annotations

from claimlab.tasks.known._bluff import by_author
from claimlab.tasks.task import Task

TASK = Task(
    name="bluff-3",
    summary="BLUFF task 3, narrow: human (HWT) or machine (MGT alone). Translations and hybrids are left out.",
    read=by_author({"HWT": "human", "MGT": "machine"}),
    classes=("human", "machine"),
    meaning={"human": "A person wrote the text.", "machine": "A machine wrote the text."},
    question="Did a person or a machine write this text?",
    positive="machine",
)
