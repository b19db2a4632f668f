"""What a run of `evolve` would cost: every step is made and every auditor asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import Dataset
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.judge import ModelJudge
from claimlab.llm.messages import Request as Ask
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab_simulate.evolve.auditor import Question
from claimlab_simulate.evolve.auditors.known.model import case_of, judge_of
from claimlab_simulate.evolve.cast import reading
from claimlab_simulate.evolve.life_tables import starts
from claimlab_simulate.evolve.rewrite.known.model import PROMPT, question
from claimlab_simulate.evolve.rewriter import Request
from claimlab_simulate.evolve.setup import EvolveSetup


def cost(setup: EvolveSetup, claims: Dataset, calls: Calls) -> dict[str, Priced]:
    """The most that a run can take: every step is made and every auditor asked. Texts are taken to
    stay as long.
    """
    parts: dict[str, Priced] = {}
    chosen, recording = setup.chosen, calls.existing()

    def add(name: str, profile: str, requests: Iterator[Ask[Any]]) -> None:
        model = find_profile(profile).with_model(chosen["model"])
        parts[name] = estimate_calls(requests, model, recording=recording)

    if chosen["rewriter"] == "model" and chosen["profile"]:
        add("agents", chosen["profile"], _turns(setup, claims))
    if chosen["auditor"] == "model" and (profiles := setup.jury_profiles):
        for number in range(setup.jury):
            profile = profiles[number % len(profiles)]
            provider = open_provider(profile, model=chosen["model"], calls=calls)
            judge = judge_of(provider, setup.prompts)
            add(f"auditor {number + 1}", profile, _votes(setup, claims, judge))
    return parts


def _steps(setup: EvolveSetup) -> int:
    """Of one claim: without auditors, a steered claim is rewritten once."""
    unaudited = setup.plan.kind == "intervened" and not setup.jury
    return 1 if unaudited else setup.plan.most_turns


def _turns(setup: EvolveSetup, claims: Dataset) -> Iterator[Ask[Any]]:
    profile, prompt = setup.open_stage().profile(0), setup.prompts[PROMPT]
    for start in starts(claims, setup.targets):
        must = start.target is None or not setup.jury
        for step in range(_steps(setup)):
            source = reading(start, setup.plan.context, first=step == 0)
            yield question(
                Request(start.text, profile, 0, target=start.target, must_rewrite=must, **source),
                prompt,
            )


def _votes(setup: EvolveSetup, claims: Dataset, judge: ModelJudge[Any]) -> Iterator[Ask[Any]]:
    for start in starts(claims, setup.targets):
        if start.target is not None:
            for _ in range(_steps(setup)):
                yield judge.request(case_of(Question(start.text, start.target, 0), judge.prompt))
