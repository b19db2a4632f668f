"""Let the claims of a dataset live in a society: the Python twin of `claimlab evolve run`, and
`simulate(claims, stage, rewriter=...)` with parts that are open.

evolved = cl.evolve("claims", network="scale-free", steps=10, output="walked")

Claims advance side by side, each on random streams of its own, so the result does not depend on how
many there are at once or who is faster. What is finished is kept in the journal of the run; an
agent's failure is an event in the trace; only what no other turn can get past stops a run, after
the claims under way are kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Unpack, cast

import numpy as np
import polars as pl

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced
from claimlab.core.calls.pool import each
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import reads
from claimlab.core.errors import DataError, UsageError
from claimlab.core.journal import Journal
from claimlab.core.options import (
    Argument,
    CallOptions,
    Engine,
    Force,
    Limit,
    ModelName,
    Option,
    OutputFolder,
    Place,
    Profile,
    PromptFiles,
    Seed,
    Setting,
    divided,
)
from claimlab.core.progress import progress, silent
from claimlab.core.record import SIDE_TABLES, meta_json
from claimlab.core.run import Run, Source, dataset_in
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.evolve.auditors.known.model import case_of, judge_of
from claimlab.evolve.claims.model import Claim, Target, all_targets
from claimlab.evolve.contracts import (
    AUDITORS,
    REWRITERS,
    ActorSettings,
    Auditor,
    Question,
    Request,
    Rewriter,
)
from claimlab.evolve.hop import COLUMNS, NOTED, Hop, Life, Start, evidence_texts
from claimlab.evolve.propagation import (
    Cast,
    Context,
    Kind,
    PropagationPlan,
    Scene,
    VoteMode,
    live,
    reading,
    ways,
)
from claimlab.evolve.rewrite.known.model import PROMPT, question
from claimlab.evolve.rewrite.weights import Weights
from claimlab.evolve.society.network import open_network, open_population
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.judge import ModelJudge
from claimlab.llm.messages import Request as Ask
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab.llm.prompts import read_prompts

# Lives as tables: what the claims became, with label, origin and change log, and every hop beside
# them.
#
# Evolved text is machine-made. No record leaves this file without saying so, and none keeps a
# verdict that was given to another text.

_KEPT = ("label_raw", "veracity", "language", "topic", "source", "authorship", "split")
CONTEXTS = 3  # texts of the evidence table that an agent may see: the first is the context
_WHOLE = 5_000  # societies up to this size are kept whole; of larger ones, those who took part


def starts(claims: Dataset, targets: Sequence[Target]) -> list[Start]:
    """Every claim, once for each target; claims without a text cannot be told and are left out (and
    counted).
    """
    texts = evidence_texts(claims)
    wanted: Sequence[Target | None] = targets or (None,)
    beginnings = []
    for record_id, text, language in claims.records.select(
        "id", "text", _languages(claims.records)
    ).iter_rows():
        if text is not None:
            known = texts.get(record_id, [])
            source = next(iter(known), None), tuple(known[1:CONTEXTS])
            beginnings += [Start(record_id, text, language, *source, target) for target in wanted]
    return beginnings


def _languages(records: pl.DataFrame) -> pl.Series:
    """The stated language of each claim, and where none is stated the measured one: words of
    another language must not get into a text. Null where it cannot be told either.
    """
    stated = records["language"]
    if not stated.null_count():
        return stated
    from claimlab.text.langid import identify

    unlabelled = records.select(pl.when(pl.col("language").is_null()).then("text")).to_series()
    measured = pl.Series("language", identify(unlabelled), dtype=pl.String)
    return stated.zip_with(stated.is_not_null(), measured)


def tables(
    claims: Dataset,
    beginnings: Sequence[Start],
    lives: Sequence[Life],
    origin: JsonObject,
    stage: Scene,
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """The records and the side tables: traces, the claims' evidence under their new ids, agents and
    edges.
    """
    before = {row["id"]: row for row in claims.records.iter_rows(named=True)}
    pairs = list(zip(beginnings, lives, strict=True))
    records = [_record(before[start.id], start, life, origin) for start, life in pairs]
    hops = [_row(start, life, hop) for start, life in pairs for hop in life.hops]
    traces = pl.DataFrame(hops, schema=SIDE_TABLES["traces"], orient="row")
    side = {"traces": traces, **_society(stage, lives)}
    if (evidence := claims.tables.get("evidence")) is not None:
        ids = pl.DataFrame({"old": [s.id for s in beginnings], "new": [life.key for life in lives]})
        moved = ids.join(evidence, left_on="old", right_on="record_id", maintain_order="left")
        side["evidence"] = moved.rename({"new": "record_id"}).select(evidence.columns)
    return pl.DataFrame(records, infer_schema_length=None), side


def _record(before: JsonObject, start: Start, life: Life, origin: JsonObject) -> JsonObject:
    known = {column: before[column] for column in _KEPT}
    if life.text != start.text:
        # A verdict is on a text, and this is another; nor did that outlet print it.
        known |= {"veracity": None, "source": None}
        known["authorship"] = "MGT" if before["authorship"] == "MGT" else "HAT"
    own = {"claim": start.id, "base_claim": start.text, "dataset": before["dataset"]}
    if before["source"]:
        own["source"] = before["source"]
    attained = {}
    if start.target is not None and life.status == "success":
        attained[start.target.dimension] = start.target.value
    meta = {
        "synthetic": {
            "label": before["label_raw"] or "none given",
            "origin": {**origin, **own},
            "changes": [_change(hop) for hop in life.hops if hop.output != hop.input],
        },
        "status": life.status,
        "steps": len(life.hops),
        **start.goal,
        **Claim(life.text, **attained).meta(),
    }
    return {
        "id": life.key,
        "text": life.text,
        "kind": before["kind"] or "claim",
        **known,
        "group": before["group"] or start.id,
        "meta": meta_json(meta),
    }


def _change(hop: Hop) -> JsonObject:
    change: JsonObject = {"round": hop.round, "step": hop.step, "agent": hop.agent}
    if fired := [o["name"] for o in hop.operators if o.get("fired", True)]:
        change["operators"] = fired
    return change


def _row(start: Start, life: Life, hop: Hop) -> JsonObject:
    meta = {
        "claim": start.id,
        "status": life.status,
        **start.goal,
        "influencing_attributes": hop.attributes,
        "influencing_reason": hop.why,
        **{name: getattr(hop, name) for name in NOTED},
        "operators": hop.operators or None,
        "votes": hop.votes or None,
        "cost": hop.cost or None,
    }
    shown = {name: getattr(hop, name) for name in COLUMNS}
    return {"record_id": life.key, "trace_id": life.key, **shown, "meta": meta_json(meta)}


def _society(stage: Scene, lives: Sequence[Life]) -> dict[str, pl.DataFrame]:
    """The agents and their ties, so that a trace can be read without the files it was made with."""
    people, network = stage.population, stage.network
    chosen = np.arange(people.size)
    if people.size > _WHOLE:
        hops = [hop for life in lives for hop in life.hops]
        names = {name for hop in hops for name in (hop.agent, hop.hub) if name}
        chosen = np.sort(people.positions(names))
    inside = np.isin(network.owners, chosen) & np.isin(network.indices, chosen)
    once = inside & (network.owners < network.indices)  # a tie is in both rows
    ends = {"source": network.owners[once], "target": network.indices[once]}
    return {
        "agents": people.agents[chosen].with_columns(
            pl.selectors.by_dtype(pl.Enum).cast(pl.String), hub=np.isin(chosen, network.hubs)
        ),
        "edges": pl.DataFrame({end: people.ids.gather(rows) for end, rows in ends.items()}),
    }


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


class Setup:
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
            kind=cast("Kind", chosen["kind"]),
            steps=chosen["steps"] or (10 if by_rounds else 30),
            rounds=chosen["rounds"] or (3 if by_rounds else 1),
            vote=cast("VoteMode", chosen["vote"] or "paper"),
            hub_opinions=chosen["hubs"],
            fan_out=chosen["fan_out"] or 2,
            reach=chosen["reach"] or 30,
            threshold=chosen["threshold"] or 0,
            # As published, whoever retells a claim does not see where it came from. A steered claim
            # needs true details.
            context=cast("Context", chosen["context"] or ("always" if steered else "never")),
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


LABEL = "Turns"


def simulate(claims: Dataset, stage: Scene, **settings: Any) -> Dataset:
    """`simulate_async` for plain code and notebooks."""
    return sync.run(simulate_async(claims, stage, **settings))


async def simulate_async(
    claims: Dataset,
    stage: Scene,
    *,
    rewriter: Rewriter,
    auditors: Sequence[Auditor] = (),
    targets: Sequence[Target] = (),
    plan: PropagationPlan | None = None,
    seed: int = 0,
    concurrency: int = 80,
    run: Run | None = None,
    lives: Sequence[Life] = (),
) -> Dataset:
    """The evolved claims with their traces, from parts that are open; with `run`, what is finished
    is kept there.

    A steered claim (`plan.kind` intervened) lives once for every target; auditors may be none (the
    direct ablation), one or three. `lives` are those of all claims, in their order, where other
    processes have lived them.
    """
    plan = plan or PropagationPlan()
    refuse_targets(plan.kind, targets)
    beginnings = starts(claims, targets)
    if not beginnings:
        raise DataError(
            f"'{claims.name}' holds no claim with a text.", "Pass a dataset with texts."
        )
    cast = Cast(stage, rewriter, auditors, seed, plan.context)
    described = parameters(cast, plan, targets)
    journal = Journal(None, {}) if run is None else run.journal(**described)
    lives = lives or await _all(beginnings, plan, cast, journal, concurrency)
    return _dataset(claims, beginnings, lives, cast, plan, described)


def parameters(cast: Cast, plan: PropagationPlan, targets: Sequence[Target]) -> JsonObject:
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
    plan: PropagationPlan,
    cast: Cast,
    journal: Journal,
    concurrency: int,
) -> list[Life]:
    """Every life, in the order of the claims. An error that stops all is raised after the lives
    under way are kept.
    """
    lives = [
        Life.from_json(saved) if (saved := journal.read(_shard(i))) else None
        for i in range(len(beginnings))
    ]
    left = [i for i, life in enumerate(lives) if life is None]
    turns = Turns(plan.most_turns, len(lives), len(lives) - len(left))
    counted = replace(cast, tick=turns.one)
    turning = ways([beginnings[i] for i in left], plan, cast)
    begun = ((beginnings[i], way) for i, way in zip(left, turning, strict=True))
    async for at, life in each(
        begun,
        lambda one: live(one[0], plan, counted, one[1]),
        concurrency=concurrency,
        progress=silent,
    ):
        lives[left[at]] = life
        journal.write(_shard(left[at]), life.to_json())
        turns.ended(len(life.hops))
    return [life for life in lives if life is not None]


class Turns:
    """Progress by turns of agents: a model may take a minute for one, and a bar of claims would not
    move.
    """

    def __init__(self, most: int, claims: int, before: int) -> None:
        self.most, self.total = most, most * claims
        self.done = most * before
        progress(LABEL, self.done, self.total)

    def one(self) -> None:
        self.done += 1
        progress(LABEL, min(self.done, self.total), self.total)

    def ended(self, turns: int) -> None:
        """A life that is over: what it might still have taken is not to come."""
        self.done += max(0, self.most - turns)
        progress(LABEL, min(self.done, self.total), self.total)


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
    plan: PropagationPlan,
    described: JsonObject,
) -> Dataset:
    origin = {
        "made_by": "claimlab evolve",
        "rewriter": cast.rewriter.name,
        "mode": plan.kind,
        "network": cast.stage.network.kind,
    }
    records, side = tables(claims, beginnings, lives, origin, cast.stage)
    notes = list(claims.notes)
    if textless := claims.records["text"].null_count():
        were = verb(textless, "was", "were")
        notes.append(f"{several(textless, 'record')} without a text {were} left out.")
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
        notes=notes,
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


def shared_lives(setup: Setup, claims: Dataset) -> list[Life]:
    """The lives of all claims, in their order; none where the run does not share its work, or asks
    a model.
    """
    number = len(starts(claims, setup.targets))
    chosen: Mapping[str, object] = setup.chosen
    asks = {"model", "learned"} & {chosen["rewriter"], chosen["auditor"]}
    if not shares() or asks or number <= CLAIMS:
        return []
    # A file that is edited after a stop makes other shards: none that is done is then taken for
    # them.
    words = {
        name: _read_whole(value) if name in _FILES else value for name, value in chosen.items()
    }
    with place() as here:
        common = {"setup": {"seed": setup.seed, **words}, "claims": dataset_in(here, claims)}
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
    beginnings = starts(claims, setup.targets)[which]
    async with setup.cast(Calls("live"), claims) as cast:
        turns = ways(beginnings, setup.plan, cast)
        return [
            await live(start, setup.plan, cast, path)
            for start, path in zip(beginnings, turns, strict=True)
        ]


def _read_whole(value: Any) -> Any:
    """A file by its whole path and digest: a worker may be in another folder. A kind of network is
    no file.
    """
    return reads(value) if isinstance(value, str | Path) and Path(value).exists() else value


# The verb, and what it would cost.


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
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    engine: Engine = None,
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
        **setup.calls,
    ) as run:
        if run.estimate:
            run.estimated(cost(setup, run.dataset, run.calls))
        dataset = run.finish(sync.run(_evolved(setup, run)))
        remarks = dataset.notes[len(run.dataset.notes) :]
        return Evolved(**vars(dataset), budget=run.calls.budget.summary(), remarks=remarks)


async def _evolved(setup: Setup, run: Run) -> Dataset:
    async with setup.cast(run.calls, run.dataset) as cast:
        return await simulate_async(
            run.dataset,
            cast.stage,
            rewriter=cast.rewriter,
            auditors=cast.auditors,
            targets=setup.targets,
            plan=setup.plan,
            seed=setup.seed,
            concurrency=run.calls.concurrency,
            run=run,
            lives=shared_lives(setup, run.dataset),
        )


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
    """Of one claim: without auditors, a steered claim is rewritten once."""
    unaudited = setup.plan.kind == "intervened" and not setup.jury
    return 1 if unaudited else setup.plan.most_turns


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
