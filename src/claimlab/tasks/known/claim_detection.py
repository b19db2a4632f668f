"""Claim or no claim: does a sentence state something that can be checked?

Datasets write it as words or as 1 and 0. Numbers and yes/no are read only on records without a
verdict, because a "1" next to a verdict is about truth, not about being a claim.
"""

from __future__ import annotations

import polars as pl

from claimlab.tasks.task import Task, words_of

WORDS = {
    "claim": ("claim", "factual claim", "verifiable", "checkable"),
    "non-claim": ("non claim", "nonclaim", "not a claim", "no claim", "unverifiable"),
}
ANSWERS = {"claim": ("1", "yes", "true"), "non-claim": ("0", "no", "false")}
by_word, by_answer = words_of("label_raw", WORDS), words_of("label_raw", ANSWERS)


def read(records: pl.DataFrame) -> pl.Series:
    answers = pl.DataFrame({"said": by_answer(records), "verdict": records["veracity"]})
    silent = answers.select(pl.when(pl.col("verdict").is_null()).then("said")).to_series()
    return by_word(records).fill_null(silent)


TASK = Task(
    name="claim-detection",
    summary=(
        "Does the text state a claim that can be checked? (PoliClaim, Claimify, evolved claims,"
        " ...)"
    ),
    read=read,
    classes=("claim", "non-claim"),
    meaning={
        "claim": "The text states something about the world that can be checked.",
        "non-claim": "The text is a question, an opinion, a feeling, or too vague to be checked.",
    },
    question="Does this text state a claim that can be checked?",
    positive="claim",
)
