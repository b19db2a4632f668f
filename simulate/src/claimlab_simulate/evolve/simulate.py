"""Let claims live in a society whose parts are open: `simulate(claims, stage, rewriter=...)`.

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
from claimlab.core.errors import DataError
from claimlab.core.journal import Journal
from claimlab.core.progress import progress, silent
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab_simulate.evolve.auditor import Auditor
from claimlab_simulate.evolve.cast import Cast
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.hop import Life, Start
from claimlab_simulate.evolve.life_tables import starts, tables
from claimlab_simulate.evolve.propagation import PropagationPlan, live, ways
from claimlab_simulate.evolve.rewriter import Rewriter
from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.setup import refuse_targets

TURNS_LABEL = "Turns"


def simulate(claims: Dataset, stage: Scene, **settings: Any) -> Dataset:
    """`simulate_async` for plain code and notebooks."""
    return sync.run(simulate_async(claims, stage, **settings))


async def simulate_async(  # noqa: PLR0913
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
    counted = replace(cast, tick=turns.taken)
    turning = ways([beginnings[i] for i in left], plan, cast)
    begun = ((beginnings[i], way) for i, way in zip(left, turning, strict=True))
    async for at, life in each(
        begun,
        lambda pair: live(pair[0], plan, counted, pair[1]),
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
        progress(TURNS_LABEL, self.done, self.total)

    def taken(self) -> None:
        self.done += 1
        progress(TURNS_LABEL, min(self.done, self.total), self.total)

    def ended(self, turns: int) -> None:
        """A life that is over: what it might still have taken is not to come."""
        self.done += max(0, self.most - turns)
        progress(TURNS_LABEL, min(self.done, self.total), self.total)


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
