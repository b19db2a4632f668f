"""Stance of a body of text towards a claim or headline, in the four classes of the Fake News
Challenge.

A dataset that has both a verdict and a stance keeps the stance in `meta`; where there is no
verdict, the label is it.
"""

from __future__ import annotations

import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.errors import UnknownName
from claimlab.tasks.task import Task, words_of

STANCES = {
    "agree": ("agree", "agrees", "for", "favor", "favour", "support", "supports", "supporting"),
    "disagree": (
        "disagree",
        "disagrees",
        "against",
        "deny",
        "denies",
        "denying",
        "refute",
        "refutes",
        "refuting",
    ),
    "discuss": (
        "discuss",
        "discusses",
        "discussing",
        "comment",
        "commenting",
        "neutral",
        "observing",
    ),
    "unrelated": ("unrelated", "irrelevant"),
}


def read(records: pl.DataFrame) -> pl.Series:
    label = pl.DataFrame(
        {"said": words_of("label_raw", STANCES)(records), "verdict": records["veracity"]}
    )
    by_label = label.select(pl.when(pl.col("verdict").is_null()).then("said")).to_series()
    try:
        column_values(records, "meta.stance")
    except UnknownName:
        return by_label
    return words_of("meta.stance", STANCES)(records).fill_null(by_label)


TASK = Task(
    name="stance",
    summary=(
        "Does the other text agree with this one, disagree, discuss it, or have nothing to do"
        " with it?"
    ),
    read=read,
    classes=tuple(STANCES),
    meaning={
        "agree": "The other text says the same.",
        "disagree": "The other text contradicts it.",
        "discuss": "The other text is about the same matter but takes no side.",
        "unrelated": "The other text is about something else.",
    },
    question="Which stance does the evidence take towards this text?",
)
