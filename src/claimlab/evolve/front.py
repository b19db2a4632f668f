"""The Python twin of `claimlab evolve run`.

evolved = cl.evolve("claims", network="scale-free", steps=10, output="walked")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claimlab.core import sync
from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.evolve.auditors.auditor import Question
from claimlab.evolve.auditors.known.model import case_of, judge_of
from claimlab.evolve.propagation import reading
from claimlab.evolve.records import starts
from claimlab.evolve.rewrite.known.model import PROMPT, question
from claimlab.evolve.rewrite.rewriter import Request
from claimlab.evolve.run import Setup, simulate_async
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.judge import ModelJudge
from claimlab.llm.messages import Request as Ask
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab.llm.prompts import Given


@dataclass(repr=False)
class Evolved(Dataset):
    """What the claims became, with every hop in the table `traces`; `budget` is what the run spent,
    `remarks` the notes that it added to those of its input."""

    budget: JsonObject = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


@repeatable()
def evolve(
    data: Source,
    *,
    output: str | Path | None = None,
    network: str = "random",
    population: str | int | None = None,
    mean_degree: float | None = None,
    kind: str = "walk",
    steps: int | None = None,
    rounds: int | None = None,
    within_group: bool | None = None,
    group: str | None = None,
    hubs: bool = True,
    fan_out: int | None = None,
    reach: int | None = None,
    context: str | None = None,
    target: Sequence[str] = (),
    vote: str | None = None,
    rewriter: str = "null",
    auditor: str | None = None,
    auditors: int | None = None,
    auditor_data: str | Path | None = None,
    weights: str | Path | None = None,
    recording: str | Path | None = None,
    profile: str | None = None,
    auditor_profile: Sequence[str] = (),
    model: str | None = None,
    prompts: Given = (),
    cache: str | Path | None = None,
    mode: str = "record",
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    concurrency: int = 80,
    seed: int = 20,
    limit: int | None = None,
    force: bool = False,
    engine: str | None = None,
    progress: Progress = silent,
) -> Evolved:
    """Let the claims of `data` pass from agent to agent and be rewritten; every hop is kept.

    `kind` is "walk", "cascade" (nothing steers) or "intervened" (auditors steer every claim towards
    each `target`, such as "style=colloquial"). `network` and `population` are files, a kind of
    network and a number of agents to draw. `context` says which agents also read the source of the
    claim: "never" (walks and cascades, as published), "first" or "always" (intervened). `rewriter`
    writes for the agents: "null" (word noise), "model" (with `profile`) or "replay" (`recording`);
    `auditor` judges. With `output` the result is written there, a run that was stopped goes on when
    it is called again, and the caps hold over all its starts. `mode` and `cache` say how calls of
    models are recorded. With `engine`, lives that ask no model are shared among processes or
    machines.
    """
    setup = Setup.of(locals())
    with Run(
        "evolve",
        data,
        output,
        limit=limit,
        force=force,
        seed=seed,
        caps=Caps(max_cost, max_calls, max_tokens),
        mode=mode,
        cache=cache,
        concurrency=concurrency,
        engine=engine,
        progress=progress,
    ) as run:
        dataset = run.finish(sync.run(_evolved(setup, run)))
        remarks = dataset.notes[len(run.dataset.notes) :]
        return Evolved(**vars(dataset), budget=run.calls.budget.summary(), remarks=remarks)


@same_arguments(evolve)
def estimate_evolve(call: Arguments) -> JsonObject:
    """What `evolve` with the same words would cost at most; nothing is asked and nothing
    written.
    """
    setup = Setup.of(vars(call))
    with Run(
        "evolve",
        call.data,
        call.output,
        limit=call.limit,
        mode=call.mode,
        cache=call.cache,
        estimate=True,
    ) as run:
        return estimate(setup, run.dataset, run.calls)


async def _evolved(setup: Setup, run: Run) -> Dataset:
    from claimlab.evolve.run import shared_lives  # only here: imports below are deep enough

    writer, judges = setup.open_rewriter(run.calls, run.dataset), setup.open_auditors(run.calls)
    try:
        return await simulate_async(
            run.dataset,
            setup.open_stage(),
            rewriter=writer,
            auditors=judges,
            targets=setup.targets,
            plan=setup.plan,
            seed=setup.seed,
            concurrency=run.calls.concurrency,
            run=run,
            lives=shared_lives(setup, run.dataset, run.progress),
            progress=run.progress,
        )
    finally:
        await writer.close()
        for judge in judges:
            await judge.close()


def estimate(setup: Setup, claims: Dataset, calls: Calls) -> JsonObject:
    """The most that a run can take: every step is made and every auditor asked. Texts are taken to
    stay as long.
    """
    parts: dict[str, Priced] = {}

    def part(name: str, profile: str, requests: Iterator[Ask[Any]]) -> None:
        known = find_profile(profile).with_model(setup.model)
        parts[name] = estimate_calls(requests, known, recording=calls.existing())

    if setup.rewriter == "model" and setup.profile:
        part("agents", setup.profile, _turns(setup, claims))
    if setup.auditor == "model" and (profiles := setup.jury_profiles):
        for number in range(setup.jury):
            profile = profiles[number % len(profiles)]
            judge = judge_of(open_provider(profile, model=setup.model, calls=calls), setup.words)
            part(f"auditor {number + 1}", profile, _votes(setup, claims, judge))
    return estimated(parts)


def _steps(setup: Setup) -> int:
    plan = setup.plan
    if plan.kind == "intervened":
        return plan.steps * plan.rounds if setup.jury else 1
    return plan.reach if plan.kind == "cascade" else plan.steps


def _turns(setup: Setup, claims: Dataset) -> Iterator[Ask[Any]]:
    profile, prompt = setup.open_stage().profile(0), setup.words[PROMPT]
    for start in starts(claims, setup.targets):
        must = start.target is None or not setup.jury
        for step in range(_steps(setup)):
            source = reading(start, setup.plan.context, first=step == 0)
            yield question(
                Request(start.text, profile, 0, target=start.target, must_rewrite=must, **source),
                prompt,
            )


def _votes(setup: Setup, claims: Dataset, judge: ModelJudge[Any]) -> Iterator[Ask[Any]]:
    for start in starts(claims, setup.targets):
        if start.target is not None:
            for _ in range(_steps(setup)):
                yield judge.request(case_of(Question(start.text, start.target, 0), judge.prompt))
