"""Let the claims of a dataset live in a society: `evolve(claims, stage, rewriter=...)` gives what they became.

Claims advance side by side, each on random streams of its own, so the result does not depend on how many there are at
once or who is faster. What is finished is kept in a journal beside the output; an agent's failure is an event in the
trace; only what no other turn can get past stops a run, after the claims under way are kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from claimlab.core import sync
from claimlab.core.calls.pool import each
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.evolve.auditors.auditor import Auditor
from claimlab.evolve.hop import Life, Start
from claimlab.evolve.journal import Journal
from claimlab.evolve.propagation import Plan, live
from claimlab.evolve.records import starts, tables
from claimlab.evolve.rewrite.rewriter import Rewriter
from claimlab.evolve.stage import Stage
from claimlab.evolve.target import Target
from claimlab.evolve.turn import Cast

LABEL = "Claims"


def evolve(claims: Dataset, stage: Stage, **settings: Any) -> Dataset:
    """`evolve_async` for plain code and notebooks."""
    return sync.run(evolve_async(claims, stage, **settings))


async def evolve_async(
    claims: Dataset,
    stage: Stage,
    *,
    rewriter: Rewriter,
    auditors: Sequence[Auditor] = (),
    targets: Sequence[Target] = (),
    plan: Plan | None = None,
    seed: int = 20,
    concurrency: int = 80,
    work: Path | None = None,
    progress: Progress = silent,
) -> Dataset:
    """The evolved claims with their traces. `work` is the folder that will hold them: the journal stands beside it.

    A steered claim (`plan.mode` intervened) lives once for every target; auditors may be none (the direct ablation),
    one or three.
    """
    plan = plan or Plan()
    if (plan.mode == "intervened") != bool(targets):
        wrong = "An intervened run needs a target." if not targets else f"A {plan.mode} has no target."
        raise UsageError(wrong, "Say --target DIMENSION=VALUE with --mode intervened, and only there.")
    begun = starts(claims, targets)
    if not begun:
        raise DataError(f"'{claims.name}' holds no claim with a text.", "Give a dataset with texts.")
    cast = Cast(stage, rewriter, auditors, seed)
    described = parameters(cast, plan, targets)
    mark = {"claims": claims.digest(), "evidence": claims.files.get("evidence.parquet"), "seed": seed, **described}
    journal = Journal(work, mark) if work is not None else None
    kept = journal.open() if journal is not None else {}
    try:
        lives = await _all(begun, plan, cast, kept, journal, concurrency, progress)
    finally:
        if journal is not None:
            journal.close(complete=False)  # the caller forgets it once the folder is written
    return _dataset(claims, begun, lives, cast, plan, described)


def forget(work: Path) -> None:
    """Remove the journal of a run whose folder is written."""
    Journal(work, {}).close(complete=True)


def parameters(cast: Cast, plan: Plan, targets: Sequence[Target]) -> dict[str, Any]:
    """All that shapes the result besides the claims and the seed; no path, no time."""
    return {
        "plan": asdict(plan),
        "targets": [str(t) for t in targets],
        "rewriter": cast.rewriter.describe(),
        "auditors": [a.describe() for a in cast.auditors],
        "weights": cast.stage.weights.digest,
        "society": cast.stage.describe(),
    }


async def _all(
    begun: Sequence[Start],
    plan: Plan,
    cast: Cast,
    kept: dict[str, Life],
    journal: Journal | None,
    concurrency: int,
    progress: Progress,
) -> list[Life]:
    """Every life, in the order of the claims. An error that stops all is raised after the lives under way are kept."""
    done = dict(kept)
    left = [start for start in begun if start.key not in done]
    progress(LABEL, len(done), len(begun))
    lives = each(
        left, lambda start: live(start, plan, cast), concurrency=concurrency, progress=progress, label=LABEL,
        before=len(done),
    )  # fmt: skip
    async for _, life in lives:
        done[life.key] = life
        if journal is not None:
            journal.add(life)
    return [done[start.key] for start in begun]


def _dataset(
    claims: Dataset, begun: Sequence[Start], lives: Sequence[Life], cast: Cast, plan: Plan, described: dict[str, Any]
) -> Dataset:
    network = cast.stage.network.kind
    origin = {"made_by": "claimlab evolve", "rewriter": cast.rewriter.name, "mode": plan.mode, "network": network}
    records, side = tables(claims, begun, lives, origin, cast.stage)
    untold = claims.records["text"].null_count()
    notes = [f"{untold:,} record(s) without a text were left out."] if untold else []
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
    found = Counter({"claims": len(lives), "turns": len(hops)})
    found.update(f"claims: {life.status}" for life in lives)
    found.update(f"turns: {hop.role}" for hop in hops)
    found.update(f"failures: {hop.failure}" for hop in hops if hop.failure)
    found.update(f"votes failed: {vote['failure']}" for hop in hops for vote in hop.votes if vote.get("failure"))
    return dict(sorted(found.items()))
