"""The Python twin of `claimlab evolve run`.

evolved = cl.evolve("claims", network="scale-free", steps=10, output="walked")
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Unpack

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import Dataset
from claimlab.core.options import (
    Argument,
    Engine,
    Force,
    Limit,
    OutputFolder,
    Seed,
    Setting,
)
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.evolve.auditors.auditor import Question
from claimlab.evolve.auditors.known.model import case_of, judge_of
from claimlab.evolve.propagation import reading
from claimlab.evolve.records import starts
from claimlab.evolve.rewrite.known.model import PROMPT, question
from claimlab.evolve.rewrite.rewriter import Request
from claimlab.evolve.run import Setup, Simulation, shared_lives, simulate_async
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.judge import ModelJudge
from claimlab.llm.messages import Request as Ask
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile


@dataclass(repr=False)
class Evolved(Dataset):
    """What the claims became, with every hop in the table `traces`; `budget` is what the run spent,
    `remarks` the notes that it added to those of its input."""

    budget: JsonObject = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


@repeatable()
def evolve(
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    *,
    output: OutputFolder = None,
    concurrency: Annotated[int, Setting("Claims to simulate at once.", least=1, most=512)] = 80,
    seed: Seed = 20,
    limit: Limit = None,
    force: Force = False,
    engine: Engine = None,
    progress: Progress = silent,
    **simulation: Unpack[Simulation],
) -> Evolved:
    """Let claims pass from agent to agent and be rewritten; keep every hop. Stop, resume and
    replay.

    Nothing steers a walk or a cascade; in an intervened run auditors steer every claim towards each
    target. With `output`, a run that was stopped goes on when it is called again, and the caps hold
    over all its starts. With `engine`, lives that ask no model are shared among processes or
    machines.
    """
    setup = Setup(seed, **simulation)
    with Run(
        "evolve",
        data,
        output,
        limit=limit,
        force=force,
        seed=seed,
        concurrency=concurrency,
        engine=engine,
        progress=progress,
        **setup.calls,
    ) as run:
        if run.estimate:
            run.estimated(cost(setup, run.dataset, run.calls))
        dataset = run.finish(sync.run(_evolved(setup, run)))
        remarks = dataset.notes[len(run.dataset.notes) :]
        return Evolved(**vars(dataset), budget=run.calls.budget.summary(), remarks=remarks)


async def _evolved(setup: Setup, run: Run) -> Dataset:
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


def cost(setup: Setup, claims: Dataset, calls: Calls) -> dict[str, Priced]:
    """The most that a run can take: every step is made and every auditor asked. Texts are taken to
    stay as long.
    """
    parts: dict[str, Priced] = {}
    chosen, recording = setup.chosen, calls.existing()

    def add(name: str, profile: str, requests: Iterator[Ask[Any]]) -> None:
        known = find_profile(profile).with_model(chosen["model"])
        parts[name] = estimate_calls(requests, known, recording=recording)

    if chosen["rewriter"] == "model" and chosen["profile"]:
        add("agents", chosen["profile"], _turns(setup, claims))
    if chosen["auditor"] == "model" and (profiles := setup.jury_profiles):
        for number in range(setup.jury):
            profile = profiles[number % len(profiles)]
            provider = open_provider(profile, model=chosen["model"], calls=calls)
            judge = judge_of(provider, setup.prompts)
            add(f"auditor {number + 1}", profile, _votes(setup, claims, judge))
    return parts


def _steps(setup: Setup) -> int:
    plan = setup.plan
    if plan.kind == "intervened":
        return plan.steps * plan.rounds if setup.jury else 1
    return plan.reach if plan.kind == "cascade" else plan.steps


def _turns(setup: Setup, claims: Dataset) -> Iterator[Ask[Any]]:
    profile, prompt = setup.open_stage().profile(0), setup.prompts[PROMPT]
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
