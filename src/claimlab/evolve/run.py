"""Let the claims of a dataset live in a society that stands: `simulate(claims, stage,
rewriter=...)`.

Claims advance side by side, each on random streams of its own, so the result does not depend on how
many there are at once or who is faster. What is finished is kept in the journal of the run; an
agent's failure is an event in the trace; only what no other turn can get past stops a run, after
the claims under way are kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from claimlab.core import sync
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.pool import each
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import dataset_in, reads
from claimlab.core.errors import DataError, UsageError
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.evolve.auditors.auditor import AUDITORS, Auditor
from claimlab.evolve.auditors.auditor import Settings as AuditorSettings
from claimlab.evolve.claims.model import Target, all_targets
from claimlab.evolve.hop import Life, Start
from claimlab.evolve.propagation import Cast, Context, Kind, Plan, Stage, VoteMode, live, ways
from claimlab.evolve.records import starts, tables
from claimlab.evolve.rewrite.rewriter import REWRITERS, Rewriter
from claimlab.evolve.rewrite.rewriter import Settings as RewriterSettings
from claimlab.evolve.rewrite.weights import Weights
from claimlab.evolve.society.build import open_network, open_population
from claimlab.llm.prompts import Given, Prompts, read_prompts

# A run in words: who the agents are, who talks to whom, how claims move, who writes, who judges.


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
    rewriter: str = "null"
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

    def open_rewriter(self, calls: Calls, claims: Dataset) -> Rewriter:
        texts: dict[str | None, list[str]] = {}
        for start in starts(claims, ()):
            texts.setdefault(start.language, []).append(start.text)
        settings = RewriterSettings(
            _path(self.weights),
            self.profile,
            self.model,
            _path(self.recording),
            calls,
            self.words,
            texts,
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


LABEL = "Turns"


def simulate(claims: Dataset, stage: Stage, **settings: Any) -> Dataset:
    """`simulate_async` for plain code and notebooks."""
    return sync.run(simulate_async(claims, stage, **settings))


async def simulate_async(
    claims: Dataset,
    stage: Stage,
    *,
    rewriter: Rewriter,
    auditors: Sequence[Auditor] = (),
    targets: Sequence[Target] = (),
    plan: Plan | None = None,
    seed: int = 20,
    concurrency: int = 80,
    run: Run | None = None,
    lives: Sequence[Life] = (),
    progress: Progress = silent,
) -> Dataset:
    """The evolved claims with their traces, from parts that are open; with `run`, what is finished
    is kept there.

    A steered claim (`plan.kind` intervened) lives once for every target; auditors may be none (the
    direct ablation), one or three. `lives` are those of all claims, in their order, where other
    processes have lived them.
    """
    plan = plan or Plan()
    if (plan.kind == "intervened") != bool(targets):
        wrong = (
            "An intervened run needs a target." if not targets else f"A {plan.kind} has no target."
        )
        raise UsageError(wrong, "Pass targets with an intervened plan, and only there.")
    beginnings = starts(claims, targets)
    if not beginnings:
        raise DataError(
            f"'{claims.name}' holds no claim with a text.", "Pass a dataset with texts."
        )
    cast = Cast(stage, rewriter, auditors, seed, plan.context)
    described = parameters(cast, plan, targets)
    journal = Journal(None, {}) if run is None else run.journal(**described)
    lives = lives or await _all(beginnings, plan, cast, journal, concurrency, progress)
    return _dataset(claims, beginnings, lives, cast, plan, described)


def parameters(cast: Cast, plan: Plan, targets: Sequence[Target]) -> JsonObject:
    """All that shapes the result besides the claims and the seed; no path, no time."""
    return {
        "plan": plan.describe(),
        "targets": [str(t) for t in targets],
        "rewriter": cast.rewriter.describe(),
        "auditors": [a.describe() for a in cast.auditors],
        "weights": cast.stage.weights.digest,
        "society": cast.stage.describe(),
    }


async def _all(
    beginnings: Sequence[Start],
    plan: Plan,
    cast: Cast,
    journal: Journal,
    concurrency: int,
    progress: Progress,
) -> list[Life]:
    """Every life, in the order of the claims. An error that stops all is raised after the lives
    under way are kept.
    """
    lives = [
        Life.from_json(saved) if (saved := journal.read(_shard(i))) else None
        for i in range(len(beginnings))
    ]
    left = [i for i, life in enumerate(lives) if life is None]
    turns = Turns(progress, plan.most_turns, len(lives), len(lives) - len(left))
    counted = replace(cast, tick=turns.one)
    turning = ways([beginnings[i] for i in left], plan, cast)
    begun = ((beginnings[i], way) for i, way in zip(left, turning, strict=True))
    async for at, life in each(
        begun, lambda one: live(one[0], plan, counted, one[1]), concurrency=concurrency
    ):
        lives[left[at]] = life
        journal.write(_shard(left[at]), life.to_json())
        turns.ended(len(life.hops))
    return [life for life in lives if life is not None]


class Turns:
    """Progress by turns of agents: a model may take a minute for one, and a bar of claims would not
    move.
    """

    def __init__(self, progress: Progress, most: int, claims: int, before: int) -> None:
        self.progress, self.most, self.total = progress, most, most * claims
        self.done = most * before
        progress(LABEL, self.done, self.total)

    def one(self) -> None:
        self.done += 1
        self.progress(LABEL, min(self.done, self.total), self.total)

    def ended(self, turns: int) -> None:
        """A life that is over: what it might still have taken is not to come."""
        self.done += max(0, self.most - turns)
        self.progress(LABEL, min(self.done, self.total), self.total)


def _shard(number: int) -> str:
    """The finished life of a claim, by its place among the claims and targets: those are in the key
    of the journal.
    """
    return f"lives/{number:08d}"


def _dataset(
    claims: Dataset,
    beginnings: Sequence[Start],
    lives: Sequence[Life],
    cast: Cast,
    plan: Plan,
    described: JsonObject,
) -> Dataset:
    network = cast.stage.network.kind
    origin = {
        "made_by": "claimlab evolve",
        "rewriter": cast.rewriter.name,
        "mode": plan.kind,
        "network": network,
    }
    records, side = tables(claims, beginnings, lives, origin, cast.stage)
    textless = claims.records["text"].null_count()
    notes = (
        [f"{several(textless, 'record')} without a text {verb(textless, 'was', 'were')} left out."]
        if textless
        else []
    )
    step = Lineage(
        step="evolve",
        parameters=json.loads(json.dumps(described, default=str)),
        seed=cast.seed,
        inputs={claims.name: claims.digest()},
        counts=counts(lives),
    )
    return Dataset.build(
        f"{claims.name}-evolved",
        records,
        side,
        card=claims.card,
        licence=claims.licence,
        synthetic=True,
        notes=[*claims.notes, *notes],
        lineage=[*claims.lineage, step],
    )


def counts(lives: Sequence[Life]) -> dict[str, int]:
    """What became of the claims and of the turns; failures by kind."""
    hops = [hop for life in lives for hop in life.hops]
    counts = Counter({"claims": len(lives), "turns": len(hops)})
    counts.update(f"claims: {life.status}" for life in lives)
    counts.update(f"turns: {hop.role}" for hop in hops)
    counts.update(f"failures: {hop.failure}" for hop in hops if hop.failure)
    counts.update(
        f"votes failed: {vote['failure']}"
        for hop in hops
        for vote in hop.votes
        if vote.get("failure")
    )
    return dict(sorted(counts.items()))


# The lives of claims in other processes: each has random streams of its own, so it is the same
# wherever it is lived.  Only lives that ask no model are shared: what is paid for is paid from one
# process, under one cap.


CLAIMS = 20  # lives in a shard
_FILES = ("network", "population", "auditor_data", "weights", "recording")


def shared_lives(setup: Setup, claims: Dataset, progress: Progress) -> list[Life]:
    """The lives of all claims, in their order; none where the run does not share its work, or asks
    a model.
    """
    number = len(starts(claims, setup.targets))
    if not shares() or "model" in (setup.rewriter, setup.auditor) or number <= CLAIMS:
        return []
    # A file that is edited after a stop makes other shards: none that is done is then taken for
    # them.
    words = {
        name: _read_whole(value) if name in _FILES else value
        for name, value in asdict(setup).items()
    }
    with place() as here:
        common = {"setup": words, "claims": dataset_in(here, claims)}
        shards = [
            {**common, "from": at, "to": min(at + CLAIMS, number)}
            for at in range(0, number, CLAIMS)
        ]
        outputs = run_stage(do_lives, shards, folder=here, name="lives", progress=progress)
        return [
            Life.from_json(life)
            for file in outputs
            for life in json.loads(file.read_text(encoding="utf-8"))
        ]


def do_lives(shard: Any, output: Path) -> None:
    """The lives of some claims."""
    setup = Setup(**shard["setup"])
    claims = Dataset.open(shard["claims"])
    lives = sync.run(_lives(setup, claims, slice(shard["from"], shard["to"])))
    output.write_text(
        json.dumps([life.to_json() for life in lives], ensure_ascii=False), encoding="utf-8"
    )


async def _lives(setup: Setup, claims: Dataset, which: slice) -> list[Life]:
    calls = Calls("live")
    beginnings = starts(claims, setup.targets)[which]
    writer, judges = setup.open_rewriter(calls, claims), setup.open_auditors(calls)
    cast = Cast(setup.open_stage(), writer, judges, setup.seed, setup.plan.context)
    try:
        turns = ways(beginnings, setup.plan, cast)
        return [
            await live(start, setup.plan, cast, path)
            for start, path in zip(beginnings, turns, strict=True)
        ]
    finally:
        await writer.close()
        for judge in judges:
            await judge.close()


def _read_whole(value: Any) -> Any:
    """A file by its whole path and digest: a worker may be in another folder. A kind of network is
    no file.
    """
    return reads(value) if isinstance(value, str | Path) and Path(value).exists() else value
