"""Steps of a study in other processes: those that can spend nothing, level by level, each a shard.

What a step writes is its own folder of the study, whole or not at all, as when it is made here; the
shard's output says how long it took, or why it failed.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from claimlab.core.engine import run_stage
from claimlab.core.engine.names import shares
from claimlab.core.engine.reads import check, digest_of
from claimlab.core.errors import ClaimlabError
from claimlab.study.run import Maker, asks
from claimlab.study.step import MISSING, Node

WORK = ".engine"


def share_steps(maker: Maker) -> None:
    """Make every step that asks no model, where the run shares its work; what is left is made as
    ever.
    """
    if not shares():
        return
    free = [node for node in maker.nodes.values() if not any(_stays(one) for one in node.chain())]
    for depth in sorted({len(list(node.chain())) for node in free}):
        level = [node for node in free if len(list(node.chain())) == depth]
        ready = [node for node in level if maker.is_missing(node) and maker.grid.why(node) is None]
        if ready:
            _make(maker, ready, depth)


def _stays(node: Node) -> bool:
    """Whether the step is made here: it may spend, it uses the recording, or it is known to be
    missing.
    """
    return asks(node) or node.verb in (MISSING, "enrich")


def _make(maker: Maker, nodes: list[Node], depth: int) -> None:
    shards = [maker.as_shard(node) for node in nodes]
    folder = maker.grid.output.absolute() / WORK
    outputs = run_stage(
        do_step, shards, folder=folder, name=f"level-{depth}", progress=maker.progress
    )
    for node, file in zip(nodes, outputs, strict=True):
        result = json.loads(file.read_text(encoding="utf-8"))
        if result["failed"] is not None:
            maker.grid.failed[node.key] = result["failed"]
        else:
            if maker.place(node).exists():  # else it is made again, as any step that is gone
                check(maker.place(node), result["sha256"])
            maker.took(node, result["seconds"], 0.0)


def do_step(shard: Any, output: Path) -> None:
    """One step of a study: the verb itself, with its own output."""
    from claimlab.study.run import call_step

    began, failed, folder = time.monotonic(), None, Path(shard["folder"])
    try:
        call_step(
            shard["verb"], [Path(place) for place in shard["places"]], shard["options"], folder
        )
    except ClaimlabError as error:
        failed = str(error)
    seconds = round(time.monotonic() - began, 3)
    digest = digest_of(folder) if failed is None else None
    output.write_text(
        json.dumps({"failed": failed, "seconds": seconds, "sha256": digest}), encoding="utf-8"
    )
