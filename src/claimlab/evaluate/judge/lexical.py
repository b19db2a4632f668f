"""A judge without a model, for trying the path offline: it looks for negations and numbers that do
not match.

It is weak, and says so. Each sentence of the rationale is compared with the sentence of the article
that shares the most words with it; the two count as a contradiction when just one of them is
negated, or when they have no number in common. It does not model meaning: "opened" against "stayed
shut" is not detected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import polars as pl

from claimlab.core import packaged
from claimlab.core.engine import over_rows
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.evaluate.judge.cases import Case
from claimlab.evaluate.judge.opinions import Scale
from claimlab.llm.judge import Opinion, Reasoned
from claimlab.text.stopwords import stop_words
from claimlab.text.tokens import tokenize

SLICE = 2_000  # cases that are worth a process: about ten seconds of one processor
# share of the smaller sentence's content words that two sentences must have in common to be
# compared
NEAR = 0.3
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class LexicalJudge:
    scale: Scale = "score"
    name = "contradiction score: lexical"
    standing = "weak: it counts negations and numbers that do not match, and does not model meaning"

    def parameters(self) -> JsonObject:
        return {"model": None, "scale": self.scale, "near": NEAR}

    def judge(
        self, cases: Sequence[Case], *, progress: Progress = silent
    ) -> list[Opinion[Reasoned]]:
        pairs = [[case.rationale or "", case.article or ""] for case in cases]
        answers = over_rows(conflicts, pairs, least=SLICE, name="judging", progress=progress)
        return [_opinion(case, *answer) for case, answer in zip(cases, answers, strict=True)]


def _opinion(case: Case, score: float | None, why: str | None) -> Opinion[Reasoned]:
    failures = ["nothing-to-compare"] if score is None else []
    replies = [None if why is None else Reasoned(rationale=why)]
    return Opinion(
        case.record_id, score, [score] if score is not None else [], replies, failures, cost=0.0
    )


def conflicts(pairs: list[list[str]]) -> list[tuple[float | None, str | None]]:
    return [conflict(*pair) for pair in pairs]


def conflict(reasons: str, article: str) -> tuple[float | None, str | None]:
    """0 to 10: the share of comparable sentences that conflict, and the first such pair. Null:
    nothing to compare.
    """
    mine, theirs = _sentences(reasons), _sentences(article)
    compared, against, why = 0, 0, None
    for one in mine:
        near = max(theirs, key=lambda other: _shared(one, other), default=None)
        if near is None or _shared(one, near) < NEAR:
            continue
        compared += 1
        if one.negated != near.negated or (
            one.numbers and near.numbers and not one.numbers & near.numbers
        ):
            against += 1
            why = why or f"“{one.text}” against “{near.text}”"
    if not compared:
        return None, None
    return (
        round(10 * against / compared, 4),
        why or f"{compared} sentences compared; none conflict.",
    )


class _Sentence:
    def __init__(self, text: str, words: list[str]) -> None:
        self.text = text
        self.negated = sum(w in _negations() for w in words) % 2 == 1
        self.numbers = set(_NUMBER.findall(text))
        self.words = {
            w
            for w in words
            if w not in _negations() and w not in stop_words() and not w[0].isdigit()
        }


def _sentences(text: str) -> list[_Sentence]:
    parts = [p.strip() for p in _END.split(text) if p.strip()]
    if not parts:
        return []
    cut = tokenize(pl.Series([_plain(p) for p in parts], dtype=pl.String)).to_list()
    return [
        _Sentence(p, [w for w in words or [] if w]) for p, words in zip(parts, cut, strict=True)
    ]


def _plain(text: str) -> str:
    """Contracted negations as two words, so that "didn't" counts."""
    return re.sub(r"n['’]t\b", " not", text.lower())


def _shared(one: _Sentence, other: _Sentence) -> float:
    smaller = min(len(one.words), len(other.words))
    return len(one.words & other.words) / smaller if smaller else 0.0


@cache
def _negations() -> frozenset[str]:
    lists = packaged.toml("claimlab.evaluate.judge", "negations.toml")
    return frozenset(word for words in lists.values() for word in words)
