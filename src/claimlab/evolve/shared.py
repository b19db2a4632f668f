"""The lives of claims in other processes: each has random streams of its own, so it is the same
wherever it is lived.

Only lives that ask no model are shared: what is paid for is paid from one process, under one cap.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from claimlab.core import sync
from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.core.engine import run_stage
from claimlab.core.engine.data import dataset_in
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import reads
from claimlab.core.progress import Progress
from claimlab.evolve.hop import Life, Start
from claimlab.evolve.propagation import Cast, live, ways
from claimlab.evolve.records import starts
from claimlab.evolve.setup import Setup

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
        name: _path(value) if name in _FILES else value for name, value in asdict(setup).items()
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
    beginnings = starts(Dataset.open(shard["claims"]), setup.targets)[shard["from"] : shard["to"]]
    lives = sync.run(_lives(setup, beginnings))
    output.write_text(
        json.dumps([life.to_json() for life in lives], ensure_ascii=False), encoding="utf-8"
    )


async def _lives(setup: Setup, beginnings: Sequence[Start]) -> list[Life]:
    calls = Calls("live")
    writer, judges = setup.open_rewriter(calls), setup.open_auditors(calls)
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


def _path(value: Any) -> Any:
    """A file by its whole path and digest: a worker may be in another folder. A kind of network is
    no file.
    """
    return reads(value) if isinstance(value, str | Path) and Path(value).exists() else value
