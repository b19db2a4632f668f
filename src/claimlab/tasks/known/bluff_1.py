"""BLUFF task 1: real or fake news."""

from __future__ import annotations

import polars as pl

from claimlab.tasks.known._bluff import NEWS
from claimlab.tasks.task import Task


def read(records: pl.DataFrame) -> pl.Series:
    return records["veracity"].replace_strict(NEWS, default=None, return_dtype=pl.String)


TASK = Task(
    name="bluff-1",
    summary="BLUFF task 1: real or fake, whoever wrote it. Mixed and unknown verdicts are left out.",
    read=read,
    classes=("real", "fake"),
    meaning={"real": "What the text reports is true.", "fake": "What the text reports is false or misleading."},
    question="Is this news real or fake?",
    positive="fake",
)
