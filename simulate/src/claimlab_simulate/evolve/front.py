"""The Python twin of `claimlab evolve run`: let the claims of a dataset live in a society.

evolved = cl.evolve("claims", network="scale-free", steps=10, output="walked")
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Unpack

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.options import (
    Argument,
    Engine,
    Force,
    Limit,
    OutputFolder,
    Seed,
    Setting,
)
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.estimate import cost
from claimlab_simulate.evolve.setup import EvolveSetup, Simulation
from claimlab_simulate.evolve.shared_lives import lives_between, shared_lives
from claimlab_simulate.evolve.simulate import simulate_async


def do_lives(shard: Any, output: Path) -> None:
    """The lives of some claims."""
    setup = EvolveSetup(**shard["setup"])
    claims = Dataset.open(shard["claims"])
    lives = sync.run(lives_between(setup, claims, slice(shard["from"], shard["to"])))
    output.write_text(
        json.dumps([life.to_json() for life in lives], ensure_ascii=False), encoding="utf-8"
    )


@dataclass(repr=False)
class Evolved(Dataset):
    """What the claims became, with every hop in the table `traces`; `budget` is what the run spent,
    `remarks` the notes that it added to those of its input."""

    budget: JsonObject = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


@repeatable(recorded="claimlab.evolve.front.evolve")
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
    setup = EvolveSetup(seed, **simulation)
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


async def _evolved(setup: EvolveSetup, run: Run) -> Dataset:
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
            lives=shared_lives(setup, run.dataset, do_lives),
        )
