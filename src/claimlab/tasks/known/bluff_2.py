"""BLUFF task 2 as its data card has it: four classes, real or fake, by a person or by a machine."""

from __future__ import annotations

from claimlab.tasks.known._bluff import by_verdict_and_author, crossed, crossed_meaning
from claimlab.tasks.task import Task

CLASSES = crossed("HWT", "MGT")
TASK = Task(
    name="bluff-2",
    summary="BLUFF task 2, the card's reading: real or fake, times person (HWT) or machine (MGT): four classes. "
    "Translations (MTT) and hybrids (HAT) are left out.",
    read=by_verdict_and_author(CLASSES),
    classes=CLASSES,
    meaning=crossed_meaning(CLASSES),
    question="Is this news real or fake, and did a person or a machine write it?",
)
