"""A run in words: who the agents are, who talks to whom, how claims move, who writes, who
judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from claimlab.core.calls.calls import Calls
from claimlab.core.errors import UsageError
from claimlab.evolve.auditors.auditor import AUDITORS, Auditor
from claimlab.evolve.auditors.auditor import Settings as AuditorSettings
from claimlab.evolve.claims.model import Target, all_targets
from claimlab.evolve.propagation import Context, Kind, Plan, VoteMode
from claimlab.evolve.rewrite.rewriter import REWRITERS, Rewriter
from claimlab.evolve.rewrite.rewriter import Settings as RewriterSettings
from claimlab.evolve.rewrite.weights import Weights
from claimlab.evolve.society.open import open_network, open_population
from claimlab.evolve.stage import Stage
from claimlab.llm.prompts import Given, Prompts, read_prompts


@dataclass(frozen=True)
class Setup:
    """What `evolve` takes; null: the default of the kind and the reading that were chosen."""

    network: str = "random"
    population: str | int | None = None
    mean_degree: float | None = None
    kind: str = "walk"
    steps: int | None = None
    rounds: int | None = None
    within_group: bool | None = (
        None  # null: claims stay in their group on a clustered network, as the paper has it
    )
    group: str | None = None
    hubs: bool = True
    fan_out: int | None = None
    reach: int | None = None
    context: str | None = None
    target: Sequence[str] = ()
    vote: str | None = None
    rewriter: str = "rules"
    auditor: str | None = None
    auditors: int | None = None
    auditor_data: str | Path | None = None
    weights: str | Path | None = None
    recording: str | Path | None = None
    profile: str | None = None
    auditor_profile: Sequence[str] = ()
    model: str | None = None
    prompts: Given = ()
    seed: int = 20

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> Setup:
        """From the arguments of a call, others among them; what is wrong is said before anything is
        opened.
        """
        setup = cls(**{f.name: words[f.name] for f in fields(cls) if f.name in words})
        _ = setup.plan, setup.targets, setup.words
        return setup

    def __post_init__(self) -> None:
        steered, asks = self.kind == "intervened", "model" in (self.rewriter, self.auditor)
        self._refuse(
            steered, ("vote", "rounds", "auditor", "auditors"), "Pass `kind='intervened'`."
        )
        self._refuse(self.kind == "cascade", ("fan_out", "reach"), "Pass `kind='cascade'`.")
        model = "Pass `rewriter='model'`, or `auditor='model'` in an intervened run."
        self._refuse(asks, ("profile", "model", "prompts"), model)
        self._refuse(self.auditor == "model", ("auditor_profile",), "Pass `auditor='model'`.")
        self._refuse(
            self.auditor == "classifier", ("auditor_data",), "Pass `auditor='classifier'`."
        )
        self._refuse(
            "replay" in (self.rewriter, self.auditor), ("recording",), "Pass `rewriter='replay'`."
        )
        if steered != bool(self.target) and self.kind in ("walk", "cascade", "intervened"):
            wrong = (
                "An intervened run needs a target." if steered else f"A {self.kind} has no target."
            )
            raise UsageError(wrong, "Pass `target` with `kind='intervened'`, and only there.")

    def _refuse(self, used: bool, names: Sequence[str], todo: str) -> None:
        """An option that nothing would read is a misunderstanding: a rule run must not pass for a
        model's.
        """
        options = [f"`{name}`" for name in names if getattr(self, name) not in (None, (), [])]
        if options and not used:
            raise UsageError(f"Nothing in this run would use {' and '.join(options)}.", todo)

    @cached_property
    def plan(self) -> Plan:
        """30 steps, or 3 rounds of 10 as released."""
        by_rounds = self.kind == "intervened" and self.vote == "released"
        return Plan(
            kind=cast(Kind, self.kind),
            steps=self.steps or (10 if by_rounds else 30),
            rounds=self.rounds or (3 if by_rounds else 1),
            vote=cast(VoteMode, self.vote or "paper"),
            hub_opinions=self.hubs,
            fan_out=self.fan_out or 2,
            reach=self.reach or 30,
            # As published, whoever retells a claim does not see where it came from. A steered claim
            # needs true details.
            context=cast(
                Context, self.context or ("always" if self.kind == "intervened" else "never")
            ),
        )

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """Each once; 'all' stands for every value of every dimension."""
        if "all" in self.target:
            return tuple(all_targets())
        return tuple(dict.fromkeys(Target.parse(word) for word in self.target))

    @cached_property
    def words(self) -> Prompts:
        return read_prompts(self.prompts, "evolve run")

    @property
    def jury(self) -> int:
        """How many auditors vote."""
        return 0 if self.kind != "intervened" else 3 if self.auditors is None else self.auditors

    @property
    def jury_profiles(self) -> tuple[str, ...]:
        return tuple(self.auditor_profile) or ((self.profile,) if self.profile else ())

    def open_stage(self) -> Stage:
        people = open_population(
            None if self.population is None else str(self.population), self.seed
        )
        ties = open_network(self.network, people, self.seed, self.mean_degree)
        stays = ties.kind == "clustered" if self.within_group is None else self.within_group
        return Stage(
            people, ties, within=stays, group=self.group, weights=Weights.read(_path(self.weights))
        )

    def open_rewriter(self, calls: Calls) -> Rewriter:
        settings = RewriterSettings(
            _path(self.weights), self.profile, self.model, _path(self.recording), calls, self.words
        )
        return REWRITERS.get(self.rewriter)(settings)

    def open_auditors(self, calls: Calls) -> list[Auditor]:
        if not self.jury:
            return []
        settings = AuditorSettings(
            recording=_path(self.recording),
            data=_path(self.auditor_data),
            targets=self.targets,
            profiles=self.jury_profiles,
            model=self.model,
            calls=calls,
            prompts=self.words,
            seed=self.seed,
        )
        return list(AUDITORS.get(self.auditor or "rules")(settings, self.jury))


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
