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
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from claimlab.core import sync
from claimlab.core.calls.pool import each
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.evolve.auditors.auditor import Auditor
from claimlab.evolve.claims.model import Target
from claimlab.evolve.hop import Life, Start
from claimlab.evolve.propagation import Cast, Plan, live, ways
from claimlab.evolve.records import starts, tables
from claimlab.evolve.rewrite.rewriter import Rewriter
from claimlab.evolve.stage import Stage

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
