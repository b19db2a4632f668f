"""BLUFF task 2 as its experiment notes have it: eight classes, real or fake, by each of four kinds of author."""

from __future__ import annotations

from claimlab.tasks.known._bluff import AUTHORS, by_verdict_and_author, crossed, crossed_meaning
from claimlab.tasks.task import Task

CLASSES = crossed(*AUTHORS)
TASK = Task(
    name="bluff-2-eight",
    summary="BLUFF task 2, the wider reading: real or fake, times HWT, MGT, MTT or HAT: eight classes.",
    read=by_verdict_and_author(CLASSES),
    classes=CLASSES,
    meaning=crossed_meaning(CLASSES),
    question="Is this news real or fake, and how was its text made?",
)
