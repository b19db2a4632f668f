"""Check-worthiness by agents: a model plays each user who hears a claim, rates it, and decides whether to pass it on.

All claims advance together, depth by depth, so that the model is asked many questions at once. A refusal or a reply
that cannot be read is null: that user gives no rating and passes nothing on, and the tally counts it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from pydantic import Field

from claimlab.core.progress import Progress, silent
from claimlab.core.stats.streams import stream_seed
from claimlab.evolve.society.engine import Model
from claimlab.evolve.worth.score import Perspective, Society, schema, scored
from claimlab.evolve.worth.spread import Ties
from claimlab.evolve.worth.values import DIMENSIONS, Background, Values
from claimlab.llm.judge import ModelJudge
from claimlab.llm.messages import untrusted
from claimlab.llm.opinion import Case, Reasoned
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab.llm.tally import Tally

READ = 1_500
MAX_TOKENS = 300
PROMPT = "worth"


class Rating(Reasoned):
    """Ratings from 0 to 1, and whether this user would pass the claim on."""

    public_interest: float = Field(ge=0, le=1)
    controversy: float = Field(ge=0, le=1)
    elites: float = Field(ge=0, le=1)
    proximity: float = Field(ge=0, le=1)
    novelty: float = Field(ge=0, le=1)
    difficulty: float = Field(ge=0, le=1)
    forward: bool


def worth_by_agents(
    claims: Sequence[tuple[str, str]],
    society: Society,
    provider: Provider,
    *,
    background: Background | None = None,
    perspective: Perspective | None = None,
    values: Values | None = None,
    prompts: Prompts | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[pl.DataFrame, Tally]:
    """As `score.by_features`, asked of a model; a claim that nobody rated has null scores. One cascade per claim."""
    background, perspective = background or Background(), perspective or Perspective.named("paper")
    values = values or Values.read()
    ties, judge, people = Ties(society.network, seed=seed), judge_of(provider, prompts), society.population
    size = people.size
    models = [Model(int(np.random.default_rng(stream_seed(seed, name)).integers(size))) for name, _ in claims]
    ratings: list[list[list[float]]] = [[] for _ in claims]
    for depth in range(perspective.bounds.depth + 1):
        jobs = [(claim, visit) for claim, model in enumerate(models) for visit in model.front()]
        cases = [
            case_of(claims[c][1], people.profile(visit.agent), background, values, claims[c][0], judge.prompt)
            for c, visit in jobs
        ]
        willing: set[int] = set()
        for index, opinion in enumerate(judge.judge(cases, progress=progress, label=f"Asking users at depth {depth}")):
            if opinion.reply is not None:
                ratings[jobs[index][0]].append([getattr(opinion.reply, d) for d in DIMENSIONS])
                willing |= {index} if opinion.reply.forward else set()
        for index in sorted(willing) if depth < perspective.bounds.depth else ():
            claim, visit = jobs[index]
            models[claim].pass_on(visit, ties.told(visit.agent, perspective.bounds.fan_out, models[claim].heard))
    rows = []
    for (name, _), model, scores in zip(claims, models, ratings, strict=True):
        # The order in which answers came must not show in the sum.
        figures = scored(np.array(sorted(scores)), [model], size, perspective) if scores else {}
        rows.append({"id": name, **figures})
    frame = pl.DataFrame(rows, schema=schema(), orient="row")
    if perspective.threshold is not None:
        frame = frame.with_columns((pl.col("score") >= perspective.threshold).alias("worthy"))
    return frame, judge.tally


def judge_of(provider: Provider, prompts: Prompts | None = None) -> ModelJudge[Rating]:
    prompt = (prompts or Prompts())[PROMPT]
    return ModelJudge(provider, prompt, Rating, value=lambda reply: reply.public_interest, max_tokens=MAX_TOKENS)


def case_of(
    text: str, profile: dict[str, str], background: Background, values: Values, name: str, prompt: Prompt
) -> Case:
    who = "; ".join(f"{k.replace('_', ' ')}: {v}" for k, v in profile.items())
    questions = "\n".join(f"- {dimension}: {question}" for dimension, question in values.questions.items())
    system = prompt.text("system", person=who, background=background, questions=questions)
    return Case(name, system, untrusted(text[:READ], "claim"))
