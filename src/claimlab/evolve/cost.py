"""What a run with models would cost at most, before it costs anything: for `--estimate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import Dataset
from claimlab.evolve.auditors.auditor import Question
from claimlab.evolve.auditors.known.model import ask
from claimlab.evolve.records import starts
from claimlab.evolve.rewrite.known.model import question
from claimlab.evolve.rewrite.rewriter import Request
from claimlab.evolve.setup import Setup
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.messages import Request as Ask
from claimlab.llm.profiles import find_profile


def estimate(setup: Setup, claims: Dataset, calls: Calls) -> dict[str, Any]:
    """The most that a run can take: every step is made and every auditor asked. Texts are taken to stay as long."""
    parts: dict[str, Priced] = {}

    def part(name: str, profile: str, asked: Iterator[Ask[Any]]) -> None:
        known = find_profile(profile).with_model(setup.model)
        parts[name] = estimate_calls(asked, known, recording=calls.existing())

    if setup.rewriter == "model" and setup.profile:
        part("agents", setup.profile, _turns(setup, claims))
    if setup.auditor == "model" and (profiles := setup.jury_profiles):
        for number in range(setup.jury):
            part(f"auditor {number + 1}", profiles[number % len(profiles)], _votes(setup, claims))
    return estimated(parts)


def _steps(setup: Setup) -> int:
    plan = setup.plan
    if plan.kind == "intervened":
        return plan.steps * plan.rounds if setup.jury else 1
    return plan.reach if plan.kind == "cascade" else plan.steps


def _turns(setup: Setup, claims: Dataset) -> Iterator[Ask[Any]]:
    profile = setup.open_stage().profile(0)
    for start in starts(claims, setup.targets):
        request = Request(
            start.text,
            profile,
            0,
            context=start.context,
            evidence=start.evidence,
            target=start.target,
            must_rewrite=start.target is None or not setup.jury,
        )
        for _ in range(_steps(setup)):
            yield question(request)


def _votes(setup: Setup, claims: Dataset) -> Iterator[Ask[Any]]:
    for start in starts(claims, setup.targets):
        if start.target is not None:
            for _ in range(_steps(setup)):
                yield ask(Question(start.text, start.target, 0), 0)
