"""What a run of `evolve` is asked for, in words, and the parts that these words open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Unpack, cast

from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.options import (
    CallOptions,
    ModelName,
    Option,
    Place,
    Profile,
    PromptFiles,
    Setting,
    divided,
)
from claimlab.llm.prompts import read_prompts
from claimlab_simulate.evolve.auditor import AUDITORS
from claimlab_simulate.evolve.cast import Cast, ContextReaders
from claimlab_simulate.evolve.claims.model import Target, all_targets
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.life_tables import starts
from claimlab_simulate.evolve.propagation import PropagationPlan, RunKind, VoteMode
from claimlab_simulate.evolve.rewrite.weights import Weights
from claimlab_simulate.evolve.rewriter import REWRITERS
from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.society.open import open_network, open_population


class Simulation(CallOptions, total=False):
    """A run in words: who the agents are, who talks to whom, how claims move, who writes, who
    judges. Null is the default of the kind and the reading that were chosen.
    """

    network: Annotated[
        str,
        Option(
            "'random', 'scale-free', 'scale-free:hubs=3', 'clustered', 'dunbar', or a file"
            " (ARCHIVE#MEMBER).",
            default="random",
        ),
    ]
    population: Annotated[
        str | int | None,
        Setting("A file of agents (ARCHIVE#MEMBER), or how many to draw (90).", kind=str),
    ]
    mean_degree: Annotated[
        float | None,
        Setting("Mean number of ties per agent; by default the same for every kind."),
    ]
    kind: Annotated[
        str,
        Option(
            "'walk', 'cascade' (both without a target), or 'intervened' (auditors).",
            default="walk",
        ),
    ]
    steps: Annotated[
        int | None, Option("Steps (30); of one round with `vote=released` (10).", least=1)
    ]
    rounds: Annotated[
        int | None, Setting("Rounds of a walk with a target (1; released: 3).", least=1)
    ]
    within_group: Annotated[bool | None, Setting("Stay in the group (clustered: yes).")]
    group: Annotated[str | None, Setting("Start and stay in this group of agents.")]
    hubs: Annotated[bool, Setting("Hubs influence others, where there are any.", default=True)]
    fan_out: Annotated[
        int | None, Setting("Cascades: agents that each agent passes a claim to (2).", least=1)
    ]
    reach: Annotated[int | None, Setting("Cascades: most agents to reach (30).", least=1)]
    threshold: Annotated[
        float | None,
        Setting("Cascades: share of agents who pass nothing on (0).", least=0, most=1),
    ]
    context: Annotated[
        str | None,
        Setting(
            "Which agents read the source of a claim: 'never' (walk, cascade), 'first' or 'always'"
            " (intervened)."
        ),
    ]
    target: Annotated[
        Sequence[str],
        Option("Target, such as style=colloquial; repeat for more; or 'all'.", default=()),
    ]
    vote: Annotated[str | None, Setting("When auditors vote: 'paper' (default) or 'released'.")]
    rewriter: Annotated[
        str,
        Option(
            "How agents rewrite: 'null' (word noise), 'model', 'learned' or 'replay'.",
            default="null",
        ),
    ]
    adapter: Annotated[
        Place | None, Option("Folder of evolve learn, for 'learned'.", metavar="DIR")
    ]
    auditor: Annotated[
        str | None,
        Option("The auditor: 'rules' (default), 'classifier', 'model' or 'replay'."),
    ]
    auditors: Annotated[
        int | None,
        Setting(
            "Number of auditors: 3 (default), 1, or 0 (one rewrite, no vote).", least=0, most=3
        ),
    ]
    auditor_data: Annotated[Place | None, Setting("Dataset that the classifier learns from.")]
    weights: Annotated[
        Place | None, Setting("Your own rates of noise and table of attributes (TOML).")
    ]
    recording: Annotated[Place | None, Setting("Dataset with traces, for 'replay'.")]
    profile: Profile
    auditor_profile: Annotated[
        Sequence[str],
        Setting(
            "Model profile of an auditor; repeat for more; by default the agents'.", default=()
        ),
    ]
    model: ModelName
    prompts: PromptFiles


class EvolveSetup:
    """What `evolve` was asked for; what is wrong is said before anything is opened."""

    def __init__(self, seed: int = 0, **simulation: Unpack[Simulation]) -> None:
        self.seed = seed
        self.chosen, self.calls = divided(Simulation, simulation)
        self._check()
        self.plan = self._plan()
        refuse_targets(self.plan.kind, self.chosen["target"])
        # 'all' stands for every value of every dimension
        words = self.chosen["target"]
        parsed = all_targets() if "all" in words else map(Target.parse, words)
        self.targets = tuple(dict.fromkeys(parsed))
        self.prompts = read_prompts(self.chosen["prompts"], "evolve run")

    def _check(self) -> None:
        """An option that nothing would read is a misunderstanding: a rule run must not pass for a
        model's.
        """
        chosen: Mapping[str, object] = self.chosen
        kind, auditor = chosen["kind"], chosen["auditor"]
        who = chosen["rewriter"], auditor
        model = "`rewriter='model'`, or `auditor='model'` in an intervened run"
        for used, names, todo in (
            (kind == "intervened", "vote rounds auditor auditors", "`kind='intervened'`"),
            (kind == "cascade", "fan_out reach threshold", "`kind='cascade'`"),
            ("model" in who, "profile model prompts", model),
            (auditor == "model", "auditor_profile", "`auditor='model'`"),
            (auditor == "classifier", "auditor_data", "`auditor='classifier'`"),
            ("learned" in who, "adapter", "`rewriter='learned'`"),
            ("replay" in who, "recording", "`rewriter='replay'`"),
        ):
            options = [f"`{name}`" for name in names.split() if chosen[name] not in (None, (), [])]
            if options and not used:
                unused = f"Nothing in this run would use {' and '.join(options)}."
                raise UsageError(unused, f"Pass {todo}.")

    def _plan(self) -> PropagationPlan:
        """30 steps, or 3 rounds of 10 as released."""
        chosen = self.chosen
        steered = chosen["kind"] == "intervened"
        by_rounds = steered and chosen["vote"] == "released"
        return PropagationPlan(
            kind=cast("RunKind", chosen["kind"]),
            steps=chosen["steps"] or (10 if by_rounds else 30),
            rounds=chosen["rounds"] or (3 if by_rounds else 1),
            vote=cast("VoteMode", chosen["vote"] or "paper"),
            hub_opinions=chosen["hubs"],
            fan_out=chosen["fan_out"] or 2,
            reach=chosen["reach"] or 30,
            threshold=chosen["threshold"] or 0,
            # As published, whoever retells a claim does not see where it came from. A steered claim
            # needs true details.
            context=cast("ContextReaders", chosen["context"] or ("always" if steered else "never")),
        )

    @property
    def jury(self) -> int:
        """How many auditors vote."""
        number = self.chosen["auditors"]
        return 0 if self.plan.kind != "intervened" else 3 if number is None else number

    @property
    def jury_profiles(self) -> tuple[str, ...]:
        agents = self.chosen["profile"]
        return tuple(self.chosen["auditor_profile"]) or ((agents,) if agents else ())

    def open_stage(self) -> Scene:
        chosen = self.chosen
        people = open_population(chosen["population"], self.seed)
        ties = open_network(chosen["network"], people, self.seed, chosen["mean_degree"])
        stays = chosen["within_group"]
        return Scene(
            people,
            ties,
            within=ties.kind == "clustered" if stays is None else stays,  # as the paper has it
            group=chosen["group"],
            weights=Weights.read(chosen["weights"]),
        )

    @asynccontextmanager
    async def cast(self, calls: Calls, claims: Dataset) -> AsyncIterator[Cast]:
        """All who take part, closed at the end."""
        settings, who = self._settings(calls, claims), self.chosen["auditor"] or "rules"
        writer = REWRITERS.get(self.chosen["rewriter"])(settings)
        judges = AUDITORS.get(who)(settings, self.jury) if self.jury else []
        try:
            yield Cast(self.open_stage(), writer, judges, self.seed, self.plan.context)
        finally:
            await writer.close()
            for judge in judges:
                await judge.close()

    def _settings(self, calls: Calls, claims: Dataset) -> ActorSettings:
        chosen, texts = self.chosen, dict[str | None, list[str]]()
        for start in starts(claims, ()):
            texts.setdefault(start.language, []).append(start.text)
        return ActorSettings(
            weights=chosen["weights"],
            profile=chosen["profile"],
            profiles=self.jury_profiles,
            model=chosen["model"],
            recording=chosen["recording"],
            adapter=chosen["adapter"],
            data=chosen["auditor_data"],
            targets=self.targets,
            calls=calls,
            prompts=self.prompts,
            texts=texts,
            seed=self.seed,
        )


def refuse_targets(kind: str, targets: Sequence[object]) -> None:
    """Claims are steered towards targets in an intervened run, and only there."""
    if (kind == "intervened") != bool(targets):
        wrong = f"A {kind} has no target." if targets else "An intervened run needs a target."
        raise UsageError(wrong, "Pass `target` with `kind='intervened'`, and only there.")
