"""Claim normalisation, a task from text to text: how near an answer is to the reference.

Each figure is of one answer, from 0 to 1, so that systems are compared item by item with intervals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import exp, log

import polars as pl

from claimlab.tasks import Task

TASK = Task(
    "normalisation",
    "Which claim does a post make, in plain words? Texts, scored against references.",
    lambda records: pl.Series([None] * records.height, dtype=pl.String),
    ("same", "other"),
    {"same": "The text is the reference.", "other": "The text is another one."},
    "Which claim does this post make?",
    metric="chrF",
)
TOKEN = re.compile(r"\w+|[^\w\s]")
WORD = re.compile(r"\w+")
LETTERS, WORDS = 6, 4  # the longest runs that are compared
RECALL_WEIGHT = 4  # chrF counts recall so many times as much as precision


def _runs(units: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(units[i : i + length]) for i in range(len(units) - length + 1))


def chrf(answer: str, reference: str) -> float:
    """chrF of Popović (2015): F2 of runs of up to six characters, whitespace aside."""
    ours, theirs = "".join(answer.split()), "".join(reference.split())
    shares = []
    for length in range(1, min(LETTERS, len(ours), len(theirs)) + 1):
        a, b = _runs(ours, length), _runs(theirs, length)
        same = (a & b).total()
        shares.append((same / a.total(), same / b.total()))
    if not shares:
        return 0.0
    precision, recall = (sum(column) / len(shares) for column in zip(*shares, strict=True))
    below = RECALL_WEIGHT * precision + recall
    return (1 + RECALL_WEIGHT) * precision * recall / below if below else 0.0


def bleu(answer: str, reference: str) -> float:
    """BLEU of one sentence: up to four words, orders without a match halved again and again, and
    short answers penalised."""
    ours, theirs = TOKEN.findall(answer), TOKEN.findall(reference)
    logs, smooth = [], 1.0
    for length in range(1, min(WORDS, len(ours)) + 1):
        a = _runs(ours, length)
        same = (a & _runs(theirs, length)).total()
        if not same:
            smooth *= 2
        logs.append(log((same or 1 / smooth) / a.total()))
    if not logs or not set(ours) & set(theirs):
        return 0.0
    return min(1.0, exp(1 - len(theirs) / len(ours))) * exp(sum(logs) / len(logs))


def word_overlap(answer: str, reference: str) -> float:
    """F1 of the words that both hold, case aside."""
    a, b = (Counter(WORD.findall(text.casefold())) for text in (answer, reference))
    below = a.total() + b.total()
    return 2 * (a & b).total() / below if below else 0.0


FIGURES = {"chrF": chrf, "BLEU": bleu, "word overlap": word_overlap}
