"""BLUFF task 4: which of four kinds of author; the human class is one of them."""

from __future__ import annotations

from claimlab.tasks.known._bluff import AUTHORS, by_author
from claimlab.tasks.task import Task

TASK = Task(
    name="bluff-4",
    summary="BLUFF task 4: written by a person (HWT) or a machine (MGT), machine-translated (MTT), or a hybrid (HAT).",
    read=by_author({author: author for author in AUTHORS}),
    classes=tuple(AUTHORS),
    meaning=AUTHORS,
    question="How was this text made?",
)
