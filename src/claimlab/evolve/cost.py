"""What a run with models would cost at most, before it costs anything: for `--estimate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import Dataset
from claimlab.evolve.auditors.auditor import Question
from claimlab.evolve.auditors.known.model import ask
from claimlab.evolve.open import Run
from claimlab.evolve.records import starts
from claimlab.evolve.rewrite.known.model import question
from claimlab.evolve.rewrite.rewriter import Request
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.messages import Request as Ask
from claimlab.llm.profiles import find_profile


def estimate(run: Run, claims: Dataset) -> dict[str, Any]:
    """The most that a run can take: every step is made and every auditor asked. Texts are taken to stay as long."""
    parts: dict[str, Priced] = {}
    if run.rewriter == "model" and run.profile:
        parts["agents"] = _estimate(run, run.profile, _turns(run, claims))
    if run.auditor == "model" and run.auditors:
        profiles = run.auditor_profiles or ((run.profile,) if run.profile else ())
        for number in range(run.auditors if profiles else 0):
            profile = profiles[number % len(profiles)]
            parts[f"auditor {number + 1}"] = _estimate(run, profile, _votes(run, claims))
    return estimated(parts)


def _estimate(run: Run, profile: str, asked: Iterator[Ask[Any]]) -> Priced:
    return estimate_calls(asked, find_profile(profile).with_model(run.model), recording=run.calls.existing())


def _steps(run: Run) -> int:
    if run.plan.mode == "intervened":
        return run.plan.steps * run.plan.rounds if run.auditors else 1
    return run.plan.reach if run.plan.mode == "cascade" else run.plan.steps


def _turns(run: Run, claims: Dataset) -> Iterator[Ask[Any]]:
    profile = run.open_stage().profile(0)
    for start in starts(claims, run.targets):
        request = Request(
            start.text,
            profile,
            0,
            context=start.context,
            evidence=start.evidence,
            target=start.target,
            must_rewrite=start.target is None or not run.auditors,
        )
        for _ in range(_steps(run)):
            yield question(request)


def _votes(run: Run, claims: Dataset) -> Iterator[Ask[Any]]:
    for start in starts(claims, run.targets):
        if start.target is not None:
            for _ in range(_steps(run)):
                yield ask(Question(start.text, start.target, 0), 0)
