"""What a model is asked besides FUSE-EVAL: how true a text still is, and which parts of its context
it states.

A model is one judge: it was not compared with people here, so whatever rests on it is marked
unvalidated. A failed answer is null, and the tally counts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from claimlab.core.progress import Progress, silent
from claimlab.evolve.drift.coverage import units
from claimlab.llm.judge import Case, ModelJudge, Reasoned
from claimlab.llm.messages import untrusted
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider

GRID = (1, 2, 3, 5, 10, 15, 20, 25, 30)  # the hops that are judged, and each trace's last
MOST_UNITS = 40
READ = 4_000
MAX_TOKENS = 400


class Level(Reasoned):
    verdict: Literal["True", "Mostly True", "Half True", "Mostly False", "False", "Pants on Fire"]


class Stated(Reasoned):
    stated: list[int]


def sample_hops(hops: pl.DataFrame, most: int, seed: int) -> pl.DataFrame:
    """Whole traces at random, each at the hops of GRID and at its last, until `most` hops are
    drawn.
    """
    wanted = hops.filter(pl.col("hop").is_in(GRID) | (pl.col("hop") == pl.col("hops")))
    wanted = wanted.drop_nulls(["base", "output"])
    traces = wanted.select("run", "trace_id").unique().sort("run", "trace_id")
    order = np.random.default_rng(seed).permutation(traces.height)
    ranked = traces.with_columns(pl.Series("lot", np.argsort(order)))
    drawn = wanted.join(ranked, on=["run", "trace_id"]).sort("lot", "hop")
    return drawn.head(most).sort("run", "trace_id", "hop").drop("lot")


def level_judge(provider: Provider, prompts: Prompts | None = None) -> ModelJudge[Level]:
    """Says how true a text still is."""
    prompt = (prompts or Prompts())["verdict-level"]
    return ModelJudge(
        provider, prompt, Level, value=lambda reply: reply.verdict, max_tokens=MAX_TOKENS
    )


def level_cases(claims: Sequence[tuple[str, str]], prompt: Prompt) -> list[Case]:
    """How true is each (text, reference)?"""
    return [
        Case(
            str(number),
            prompt.text("system"),
            f"{untrusted(reference[:READ], 'reference')}\n\n{untrusted(text[:READ], 'statement')}",
        )
        for number, (text, reference) in enumerate(claims)
    ]


def judge_levels(
    claims: Sequence[tuple[str, str]], judge: ModelJudge[Level], *, progress: Progress = silent
) -> tuple[list[str | None], list[str | None]]:
    """(text, reference) pairs to levels, and to the rationale of each."""
    opinions = judge.judge(
        level_cases(claims, judge.prompt), progress=progress, label="Judging verdicts"
    )
    levels = [None if opinion.value is None else str(opinion.value) for opinion in opinions]
    return levels, [opinion.rationale for opinion in opinions]


def stated_judge(provider: Provider, prompts: Prompts | None = None) -> ModelJudge[Stated]:
    """Says which facts of its context a text states."""
    prompt = (prompts or Prompts())["coverage"]
    return ModelJudge(
        provider,
        prompt,
        Stated,
        value=lambda reply: float(len(reply.stated)),
        max_tokens=MAX_TOKENS,
    )


def stated_cases(claims: Sequence[tuple[str, str]], prompt: Prompt) -> list[Case]:
    """Which units of the context does each (text, context) state?"""
    return [
        Case(
            str(number),
            prompt.text("system"),
            f"{untrusted(_numbered(units(context)[:MOST_UNITS]), 'facts')}\n\n{untrusted(text[:READ], 'statement')}",  # noqa: E501
        )
        for number, (text, context) in enumerate(claims)
    ]


def entailed(
    claims: Sequence[tuple[str, str]], judge: ModelJudge[Stated], *, progress: Progress = silent
) -> list[float | None]:
    """(text, context) pairs to the share of the context's units that the model finds in the
    text.
    """
    opinions = judge.judge(
        stated_cases(claims, judge.prompt), progress=progress, label="Judging coverage"
    )
    shares: list[float | None] = []
    for (_, context), opinion in zip(claims, opinions, strict=True):
        known = len(units(context)[:MOST_UNITS])
        stated = (
            {i for i in opinion.reply.stated if 1 <= i <= known}
            if opinion.reply is not None
            else set()
        )
        shares.append(len(stated) / known if opinion.reply is not None and known else None)
    return shares


def _numbered(facts: Sequence[str]) -> str:
    return "\n".join(f"{i}. {fact}" for i, fact in enumerate(facts, 1))
