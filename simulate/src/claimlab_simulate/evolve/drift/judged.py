"""What models are asked about hops: how far each text has moved, how true it still is, and which
parts of its context it states.

A model is one judge: it was not compared with people here, so whatever rests on it is marked
unvalidated. A failed answer is null, and the tally counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import polars as pl

from claimlab.llm.judge import JudgeCase, ModelJudge, Reasoned, fenced
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider
from claimlab_simulate.evolve.drift.coverage import units
from claimlab_simulate.evolve.drift.fuse import PROMPT, FuseReading, mean_score, schema_of
from claimlab_simulate.evolve.drift.sample import sample_hops

MOST_UNITS = 40
CHARACTERS_READ, PAIR_CHARACTERS_READ = (
    4_000,
    2_000,
)  # characters of a text: by itself, and beside its base
MAX_TOKENS, PAIR_TOKENS = 400, 500


class Level(Reasoned):
    verdict: Literal["True", "Mostly True", "Half True", "Mostly False", "False", "Pants on Fire"]


class Stated(Reasoned):
    stated: list[int]


class Inquiry(NamedTuple):
    """A judge, and the cases that it is asked about."""

    judge: ModelJudge[Any]
    cases: list[JudgeCase]


@dataclass(frozen=True)
class Judges:
    """The models to ask, and how much: hops are drawn at random, whole traces at a time."""

    providers: Sequence[Provider]
    reading: FuseReading = field(default_factory=FuseReading)
    runs: int = 1
    sample: int = 200
    prompts: Prompts = field(default_factory=Prompts)
    hops: str = "spread"

    def drawn(self, hops: pl.DataFrame, seed: int) -> pl.DataFrame:
        return sample_hops(hops, self.sample, seed, self.hops)

    def questions(self, drawn: pl.DataFrame, sources: Mapping[str, str]) -> dict[str, Inquiry]:
        """All judges score the hops, and the first also says how true each text is (compared with
        the base where it has no context) and which facts of its context it states.
        """
        rows = drawn.select("record_id", "base", "output").rows()
        scores = self.scores([(base, now) for _, base, now in rows])
        return {
            **{f"judge {number}": inquiry for number, inquiry in enumerate(scores, 1)},
            "verdicts": self.levels([(now, sources.get(i) or base) for i, base, now in rows]),
            "coverage": self.stated([(now, sources[i]) for i, _, now in rows if i in sources]),
        }

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[Inquiry]:
        """How far has each text moved, of (base, now)?"""
        prompt, (low, high) = self.prompts[PROMPT], self.reading.bounds
        lines = "\n".join(f"- {name}: {prompt.text(name)}" for name in self.reading.dimensions)
        system = prompt.text("system", low=low, high=high, questions=lines)
        texts = [
            {"original": base[:PAIR_CHARACTERS_READ], "current": now[:PAIR_CHARACTERS_READ]}
            for base, now in pairs
        ]
        schema, most = schema_of(self.reading), PAIR_TOKENS
        return [
            Inquiry(
                ModelJudge(provider, prompt, schema, mean_score, runs=self.runs, max_tokens=most),
                _cases(system, texts),
            )
            for provider in self.providers
        ]

    def levels(self, claims: Sequence[tuple[str, str]]) -> Inquiry:
        """How true is each text, of (text, reference)?"""
        texts = [
            {"reference": reference[:CHARACTERS_READ], "statement": text[:CHARACTERS_READ]}
            for text, reference in claims
        ]
        return self._first("verdict-level", Level, lambda reply: reply.verdict, texts)

    def stated(self, claims: Sequence[tuple[str, str]]) -> Inquiry:
        """Which units of its context does each text state, of (text, context)?"""
        texts = [
            {
                "facts": "\n".join(
                    f"{i}. {fact}" for i, fact in enumerate(units(context)[:MOST_UNITS], 1)
                ),
                "statement": text[:CHARACTERS_READ],
            }
            for text, context in claims
        ]
        return self._first("coverage", Stated, lambda reply: float(len(reply.stated)), texts)

    def _first(
        self,
        name: str,
        schema: type[Reasoned],
        value: Callable[[Any], str | float],
        texts: Sequence[Mapping[str, str]],
    ) -> Inquiry:
        """What the first of the models is asked about each text."""
        prompt = self.prompts[name]
        judge = ModelJudge(self.providers[0], prompt, schema, value, max_tokens=MAX_TOKENS)
        return Inquiry(judge, _cases(prompt.text("system"), texts))


def _cases(system: str, texts: Sequence[Mapping[str, str]]) -> list[JudgeCase]:
    return [JudgeCase(str(number), system, fenced(data)) for number, data in enumerate(texts)]


def judge_levels(
    inquiry: Inquiry,
) -> tuple[list[str | None], list[str | None]]:
    """The level of each text, and the rationale."""
    opinions = inquiry.judge.judge(inquiry.cases, label="Judging verdicts")
    levels = [None if opinion.value is None else str(opinion.value) for opinion in opinions]
    return levels, [opinion.rationale for opinion in opinions]


def entailed(
    inquiry: Inquiry,
    claims: Sequence[str],
) -> list[float | None]:
    """The share of the units of each of these contexts that the model finds in the text."""
    opinions = inquiry.judge.judge(inquiry.cases, label="Judging coverage")
    shares: list[float | None] = []
    for context, opinion in zip(claims, opinions, strict=True):
        numbers = range(1, len(units(context)[:MOST_UNITS]) + 1)
        reply = opinion.reply
        stated = () if reply is None else set(reply.stated).intersection(numbers)
        shares.append(len(stated) / len(numbers) if reply is not None and numbers else None)
    return shares
