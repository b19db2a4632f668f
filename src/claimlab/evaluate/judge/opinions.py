"""The contradiction judges: a language model, asked once or several times, and a weak rule that
needs none.

On the scale "score" an opinion is a number from 0 (no contradiction) to 10; on "binary" and
"trinary" it is a word: wrong, not wrong, or (trinary) open.

The judge without a model is for trying the path offline: it looks for negations and numbers that do
not match. It is weak, and says so. Each sentence of the rationale is compared with the sentence of
the article that shares the most words with it; the two count as a contradiction when just one of
them is negated, or when they have no number in common. It does not model meaning: "opened" against
"stayed shut" is not detected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal, Protocol

import polars as pl
from pydantic import BaseModel, Field

from claimlab.core import packaged
from claimlab.core.engine.run import over_rows
from claimlab.core.progress import progress
from claimlab.core.types import JsonObject
from claimlab.evaluate.judge.cases import RationaleCase
from claimlab.evaluate.judge.people import NOT_WRONG, OPEN, WRONG
from claimlab.llm.asking import gather_sync
from claimlab.llm.judge import JudgeCase as Asked
from claimlab.llm.judge import ModelJudge, Opinion, Reasoned
from claimlab.llm.messages import Message, Request, untrusted
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider
from claimlab.text.langid import other_language
from claimlab.text.stopwords import stop_words
from claimlab.text.tokens import tokenize

Scale = Literal["score", "binary", "trinary"]
PROMPT, OTHER_WORDS = "contradiction", "paraphrase"
CHARACTERS_READ = 12_000  # characters of an article
MAX_TOKENS = 600
PADDING = "That is all there is to say about this. "
_WORDS = {"yes": WRONG, "no": NOT_WRONG, "unsure": OPEN}
CASES_A_SHARD = 2_000  # cases that are worth a process: about ten seconds of one processor
# share of the smaller sentence's content words that two sentences must have in common to be
# compared
NEAR_SIMILARITY = 0.3
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Judge(Protocol):
    scale: Scale

    @property
    def name(self) -> str: ...

    @property
    def standing(self) -> str | None:
        """What its opinions are worth, where that must be said."""
        ...

    def parameters(self) -> JsonObject: ...

    def judge(
        self, cases: Sequence[RationaleCase], *, exchanged: bool = False
    ) -> list[Opinion[Any]]:
        """Its opinions; `exchanged`: with article and rationale in each other's place."""
        ...


class NoJudge:
    """No judge at all: only what annotators said is counted."""

    scale: Scale = "score"
    name = "none"
    standing = "absent: only annotators judged"

    def parameters(self) -> JsonObject:
        return {}

    def judge(
        self,
        cases: Sequence[RationaleCase],  # noqa: ARG002
        *,
        exchanged: bool = False,  # noqa: ARG002
    ) -> list[Opinion[Any]]:
        return []


class Scored(Reasoned):
    score: int = Field(ge=0, le=10)


class Binary(Reasoned):
    contradiction: Literal["yes", "no"]


class Trinary(Reasoned):
    contradiction: Literal["yes", "no", "unsure"]


class Reworded(BaseModel):
    paraphrase: str = Field(min_length=1)


_SCHEMAS: dict[Scale, type[Reasoned]] = {"score": Scored, "binary": Binary, "trinary": Trinary}


class Contradiction:
    """The model of `provider`, asked whether a rationale and an article contradict each other."""

    def __init__(
        self,
        provider: Provider,
        *,
        scale: Scale = "score",
        runs: int = 1,
        prompts: Prompts | None = None,
    ) -> None:
        self.scale, words = scale, prompts or Prompts()
        self._other_words = words[OTHER_WORDS]
        self.model: ModelJudge[Any] = ModelJudge(
            provider,
            words[PROMPT],
            _SCHEMAS[scale],
            value=_value,
            tie=OPEN,
            runs=runs,
            max_tokens=MAX_TOKENS,
            differ=other_language,
        )

    @property
    def name(self) -> str:
        return f"contradiction {self.scale}: {self.model.model}"

    @property
    def standing(self) -> str | None:
        return self.model.standing

    def parameters(self) -> JsonObject:
        return {**self.model.parameters(), "scale": self.scale}

    def judge(
        self, cases: Sequence[RationaleCase], *, exchanged: bool = False
    ) -> list[Opinion[Any]]:
        return self.model.judge([self.question(case, exchanged=exchanged) for case in cases])

    def reworded(self, cases: Sequence[RationaleCase]) -> list[RationaleCase]:
        """The cases with their rationales in other words of the model, less those that came back
        with other numbers, which would not say the same."""
        system = Message("system", self._other_words.text("system"))
        requests = [
            Request(
                messages=(system, Message("user", untrusted(case.rationale or "", "text"))),
                schema=Reworded,
                max_tokens=MAX_TOKENS,
                tag=case.record_id,
                prompt_name=OTHER_WORDS,
            )
            for case in cases
        ]
        replies = gather_sync(self.model.provider, requests, label="paraphrasing")
        texts = {at: answer.value.paraphrase for at, answer in replies if answer.value is not None}
        return [
            replace(case, rationale=texts[at])
            for at, case in enumerate(cases)
            if at in texts and _numbers(texts[at]) == _numbers(case.rationale or "")
        ]

    def requests(self, cases: Sequence[RationaleCase]) -> Sequence[Request[Any]]:
        return list(self.model.requests([self.question(case) for case in cases]))

    def question(self, case: RationaleCase, *, exchanged: bool = False) -> Asked:
        """The statement first, then what is said of it under names that favour neither, as in the
        guide: a model that reads the statement last compares the article with that."""
        prompt = self.model.prompt
        assessments = [
            (case.article or "")[:CHARACTERS_READ],
            f"Label: {case.label}. {case.rationale}",
        ]
        data = [untrusted(case.statement, "statement")]
        for number, words in enumerate(assessments[::-1] if exchanged else assessments, start=1):
            data.append(untrusted(words, f"assessment-{number}"))
        system = f"{prompt.text('system')} {prompt.text(self.scale)}"
        return Asked(case.record_id, system, "\n\n".join(data), case.statement)


def padded(case: RationaleCase) -> RationaleCase:
    """The same case, its rationale made at least twice as long by words that say nothing."""
    own = case.rationale or ""
    return replace(case, rationale=f"{own} {PADDING * (1 + len(own) // len(PADDING))}".strip())


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+", text))


def family_of(model: object) -> str | None:
    """The first word of a model's name without its maker, such as gpt, claude or llama."""
    start = re.match(r"(?:meta-|chat)?([a-z]+)", str(model or "").lower().rpartition("/")[2])
    return start and {"o": "gpt"}.get(start[1], start[1])


def _value(reply: Any) -> float | str:
    return reply.score if isinstance(reply, Scored) else _WORDS[reply.contradiction]


class LexicalJudge:
    scale: Scale = "score"
    name = "contradiction score: lexical"
    standing = "weak: it counts negations and numbers that do not match, and does not model meaning"

    def parameters(self) -> JsonObject:
        return {"model": None, "scale": self.scale, "near": NEAR_SIMILARITY}

    def judge(
        self, cases: Sequence[RationaleCase], *, exchanged: bool = False
    ) -> list[Opinion[Reasoned]]:
        pairs = [[case.rationale or "", case.article or ""] for case in cases]
        pairs = [pair[::-1] for pair in pairs] if exchanged else pairs
        answers = over_rows(
            conflicts, pairs, least=CASES_A_SHARD, name="judging", progress=progress
        )
        return [_opinion(case, *answer) for case, answer in zip(cases, answers, strict=True)]


def _opinion(case: RationaleCase, score: float | None, why: str | None) -> Opinion[Reasoned]:
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
    sentences, theirs = _sentences(reasons), _sentences(article)
    compared, against, why = 0, 0, None
    for sentence in sentences:
        near = max(theirs, key=lambda other: _shared(sentence, other), default=None)
        if near is None or _shared(sentence, near) < NEAR_SIMILARITY:
            continue
        compared += 1
        if sentence.negated != near.negated or (
            sentence.numbers and near.numbers and not sentence.numbers & near.numbers
        ):
            against += 1
            why = why or f"“{sentence.text}” against “{near.text}”"
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
    # contracted negations as two words, so that "didn't" counts
    plain = [re.sub(r"n['’]t\b", " not", part.lower()) for part in parts]
    cut = tokenize(pl.Series(plain, dtype=pl.String)).to_list()
    return [
        _Sentence(p, [w for w in words or [] if w]) for p, words in zip(parts, cut, strict=True)
    ]


def _shared(sentence: _Sentence, other: _Sentence) -> float:
    smaller = min(len(sentence.words), len(other.words))
    return len(sentence.words & other.words) / smaller if smaller else 0.0


@cache
def _negations() -> frozenset[str]:
    lists = packaged.toml("claimlab.evaluate.judge", "negations.toml")
    return frozenset(word for words in lists.values() for word in words)
