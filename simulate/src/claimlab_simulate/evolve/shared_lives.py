"""The lives of claims in other processes: each has random streams of its own, so it is the same
wherever it is lived.

Only lives that ask no model are shared: what is paid for is paid from one process, under one cap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import reads
from claimlab.core.engine.run import run_stage
from claimlab.core.progress import progress
from claimlab.core.run import dataset_in
from claimlab_simulate.evolve.hop import Life
from claimlab_simulate.evolve.life_tables import starts
from claimlab_simulate.evolve.propagation import (
    live,
    ways,
)
from claimlab_simulate.evolve.setup import EvolveSetup

LIVES_A_SHARD = 20  # lives in a shard
_FILES = ("network", "population", "auditor_data", "weights", "recording")


def shared_lives(
    setup: EvolveSetup, claims: Dataset, do_lives: Callable[[Any, Path], None]
) -> list[Life]:
    """The lives of all claims, in their order; none where the run does not share its work, or asks
    a model. `do_lives` is the function of workers that lives a shard.
    """
    number = len(starts(claims, setup.targets))
    chosen: Mapping[str, object] = setup.chosen
    asks = {"model", "learned"} & {chosen["rewriter"], chosen["auditor"]}
    if not shares() or asks or number <= LIVES_A_SHARD:
        return []
    # A file that is edited after a stop makes other shards: none that is done is then taken for
    # them.
    words = {
        name: _read_whole(value) if name in _FILES else value for name, value in chosen.items()
    }
    with place() as here:
        common = {"setup": {"seed": setup.seed, **words}, "claims": dataset_in(here, claims)}
        shards = [
            {**common, "from": at, "to": min(at + LIVES_A_SHARD, number)}
            for at in range(0, number, LIVES_A_SHARD)
        ]
        outputs = run_stage(do_lives, shards, folder=here, name="lives", progress=progress)
        return [
            Life.from_json(life)
            for file in outputs
            for life in json.loads(file.read_text(encoding="utf-8"))
        ]


async def lives_between(setup: EvolveSetup, claims: Dataset, which: slice) -> list[Life]:
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
