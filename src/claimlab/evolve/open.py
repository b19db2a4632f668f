"""Open what a run is made of from words: who the agents are, who talks to whom, who writes, who judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.evolve.auditors.auditor import AUDITORS, Auditor
from claimlab.evolve.auditors.auditor import Settings as AuditorSettings
from claimlab.evolve.propagation import Mode, Plan, VoteMode
from claimlab.evolve.rewrite.rewriter import REWRITERS, Rewriter
from claimlab.evolve.rewrite.rewriter import Settings as RewriterSettings
from claimlab.evolve.rewrite.weights import Weights
from claimlab.evolve.run import evolve_async
from claimlab.evolve.society.open import open_network, open_population
from claimlab.evolve.stage import Stage
from claimlab.evolve.target import Target, all_targets


@dataclass(frozen=True)
class Run:
    """A run in words; `start` does it."""

    network: str = "random"
    population: str | None = None
    mean_degree: float | None = None
    within: bool | None = None  # null: claims stay in their group on a clustered network, as the paper has it
    group: str | None = None
    plan: Plan = field(default_factory=Plan)
    targets: tuple[Target, ...] = ()
    rewriter: str = "rules"
    auditor: str = "rules"
    auditors: int = 3
    auditor_data: Path | None = None
    weights: Path | None = None
    recording: Path | None = None
    profile: str | None = None
    auditor_profiles: tuple[str, ...] = ()
    model: str | None = None
    calls: Calls = field(default_factory=Calls)
    seed: int = 20

    async def start(self, claims: Dataset, *, work: Path | None = None, progress: Progress = silent) -> Dataset:
        writer, judges = self.open_rewriter(), self.open_auditors()
        try:
            return await evolve_async(
                claims,
                self.open_stage(),
                rewriter=writer,
                auditors=judges,
                targets=self.targets,
                plan=self.plan,
                seed=self.seed,
                concurrency=self.calls.concurrency,
                work=work,
                progress=progress,
            )
        finally:
            await writer.close()
            for judge in judges:
                await judge.close()

    def open_stage(self) -> Stage:
        people = open_population(self.population, self.seed)
        ties = open_network(self.network, people, self.seed, self.mean_degree)
        stays = ties.kind == "clustered" if self.within is None else self.within
        return Stage(people, ties, within=stays, group=self.group, weights=Weights.read(self.weights))

    def open_rewriter(self) -> Rewriter:
        settings = RewriterSettings(
            weights=self.weights,
            profile=self.profile,
            model=self.model,
            recording=self.recording,
            calls=self.calls,
        )
        return REWRITERS.get(self.rewriter)(settings)

    def open_auditors(self) -> list[Auditor]:
        if not self.auditors:
            return []
        settings = AuditorSettings(
            data=self.auditor_data,
            targets=self.targets,
            profiles=self.auditor_profiles or ((self.profile,) if self.profile else ()),
            model=self.model,
            recording=self.recording,
            calls=self.calls,
            seed=self.seed,
        )
        return list(AUDITORS.get(self.auditor)(settings, self.auditors))


def plan_of(mode: str, steps: int | None, rounds: int | None, vote: str, hubs: bool, fan_out: int, reach: int) -> Plan:
    """A plan with the defaults of the reading that was chosen: 30 steps, or 3 rounds of 10 as released."""
    by_rounds = mode == "intervened" and vote == "released"
    return Plan(
        mode=cast(Mode, mode),
        steps=steps or (10 if by_rounds else 30),
        rounds=rounds or (3 if by_rounds else 1),
        vote=cast(VoteMode, vote),
        hub_opinions=hubs,
        fan_out=fan_out,
        reach=reach,
    )


def targets_of(words: list[str]) -> tuple[Target, ...]:
    """Targets by name, each once; 'all' for every value of every dimension."""
    if "all" in words:
        return tuple(all_targets())
    return tuple(dict.fromkeys(Target.parse(word) for word in words))
