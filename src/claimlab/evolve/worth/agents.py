"""Check-worthiness by agents: a model plays each user who hears a claim, rates it, and decides
whether to pass it on.

All claims advance together, depth by depth, so that the model is asked many questions at once. A
refusal or a reply that cannot be read is null: that user gives no rating and passes nothing on, and
the tally counts it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from pydantic import Field

from claimlab.core.progress import Progress, silent
from claimlab.core.stats.streams import stream_seed
from claimlab.evolve.society.engine import Model, depth, size
from claimlab.evolve.society.telling import Closest
from claimlab.evolve.worth.score import Perspective, Society, schema, scored
from claimlab.evolve.worth.values import DIMENSIONS, Background, Values
from claimlab.llm.gather import Tally
from claimlab.llm.judge import Case, ModelJudge, Reasoned
from claimlab.llm.messages import untrusted
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider

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
    """As `score.by_features`, asked of a model; a claim without a rating has null scores. One
    cascade per claim.
    """
    background, perspective = background or Background(), perspective or Perspective.named("paper")
    values = values or Values.read()
    judge, people, bounds = judge_of(provider, prompts), society.population, perspective.bounds
    closest = Closest(society.network, bounds.fan_out, seed=seed)
    starts = [
        int(np.random.default_rng(stream_seed(seed, name)).integers(people.size))
        for name, _ in claims
    ]
    model = Model(starts, agents=people.size)
    ratings: list[list[list[float]]] = [[] for _ in claims]
    while len(model.front):
        hearing = list(zip(model.front.claim.tolist(), model.front.agent.tolist(), strict=True))
        cases = [
            case_of(
                claims[c][1], people.profile(agent), background, values, claims[c][0], judge.prompt
            )
            for c, agent in hearing
        ]
        willing = np.zeros(len(hearing), dtype=bool)
        label = f"Asking users at depth {model.front.depth}"
        for index, opinion in enumerate(judge.judge(cases, progress=progress, label=label)):
            if opinion.reply is not None:
                ratings[hearing[index][0]].append([getattr(opinion.reply, d) for d in DIMENSIONS])
                willing[index] = opinion.reply.forward
        if model.front.depth == bounds.depth:
            break
        model.pass_on(closest, willing)
    depths, sizes, rows = depth(model), size(model), []
    for i, ((name, _), scores) in enumerate(zip(claims, ratings, strict=True)):
        # The order in which answers came must not show in the sum.
        cascade = depths[i : i + 1], sizes[i : i + 1], people.size
        rows.append(
            {
                "id": name,
                **(scored(np.array(sorted(scores)), *cascade, perspective) if scores else {}),
            }
        )
    frame = pl.DataFrame(rows, schema=schema(), orient="row")
    if perspective.threshold is not None:
        frame = frame.with_columns((pl.col("score") >= perspective.threshold).alias("worthy"))
    return frame, judge.tally


def judge_of(provider: Provider, prompts: Prompts | None = None) -> ModelJudge[Rating]:
    prompt = (prompts or Prompts())[PROMPT]
    return ModelJudge(
        provider, prompt, Rating, value=lambda reply: reply.public_interest, max_tokens=MAX_TOKENS
    )


def case_of(
    text: str,
    profile: dict[str, str],
    background: Background,
    values: Values,
    name: str,
    prompt: Prompt,
) -> Case:
    who = "; ".join(f"{k.replace('_', ' ')}: {v}" for k, v in profile.items())
    questions = "\n".join(
        f"- {dimension}: {question}" for dimension, question in values.questions.items()
    )
    system = prompt.text("system", person=who, background=background, questions=questions)
    return Case(name, system, untrusted(text[:READ], "claim"))
