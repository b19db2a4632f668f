"""`run_stage`: the one way in which work is spread over processes and machines.

The result does not depend on the engine or on the number of workers: a shard's output is a function
of the shard, and outputs come back in the order of the shards.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from claimlab.core.engine import local, shared
from claimlab.core.engine.current import current
from claimlab.core.engine.names import Engine, parse_engine
from claimlab.core.engine.size import SHARE
from claimlab.core.engine.stage import Failure, Result, Stage, Work
from claimlab.core.errors import ShardsMissing
from claimlab.core.progress import Progress, silent

RETRIES = 2


def run_stage(
    work: Work,
    shards: Sequence[Any],
    *,
    folder: Path,
    engine: str | None = None,
    name: str = "shards",
    progress: Progress | None = None,
    retries: int = RETRIES,
    memory: int = SHARE,
) -> list[Path]:
    """Call `work(shard, output)` for each of the shards, and return the outputs in the order of the
    shards.

    `work` is a function of functions.py; a shard is plain JSON (numbers, words, what it reads: see
    reads.py); `output` is the file or folder that it writes. Everything lies in `folder`/`name`,
    which remote workers must see, too. A shard that is done is not done again by a later start. A
    shard that fails is tried `retries` times more; where that does not help, the others are
    finished and the run stops with what is missing. `memory` is about how many bytes a worker
    needs. Without `engine` it is that of the run under way.
    """
    spec, tell = parse_engine(engine or current().engine), progress or silent
    stage = Stage.open(Path(folder) / name, work, shards)
    if not spec.is_remote:
        stage.sweep()
    missing = stage.missing()
    failures: dict[int, Failure] = {}
    for _ in range(
        1 if spec.kind == "shared" else 1 + retries
    ):  # shared workers try again by themselves
        if not missing:
            break
        tell(name, len(shards) - len(missing), len(shards))
        failures = _round(stage, _attempt(stage, missing, spec, memory, 1 + retries), tell)
        missing = stage.missing()
    if missing:
        raise _stopped(stage, missing, failures)
    if not spec.is_remote:
        stage.sweep()
    return [stage.output(number) for number in range(len(shards))]


def _attempt(
    stage: Stage, missing: list[int], spec: Engine, memory: int, tries: int
) -> Generator[Result, None, None]:
    """What becomes of each missing shard, from the engine that was asked for."""
    if spec.kind == "shared":
        yield from shared.attempt(stage, missing, tries)
    elif spec.kind == "dask":
        from claimlab.core.engine import cluster

        yield from cluster.attempt(stage, missing, spec)
    else:
        yield from local.attempt(stage, missing, spec.workers, memory)


def _round(
    stage: Stage, results: Generator[Result, None, None], tell: Progress
) -> dict[int, Failure]:
    """Try each missing shard once. An error that claimlab explains is raised at once, as it is
    without shards: it would come again. So is a full disk."""
    failures: dict[int, Failure] = {}
    done, total = len(stage.shards) - len(stage.missing()), len(stage.shards)
    try:
        for number, failure in results:
            if failure is None:
                done += 1
                tell(stage.name, done, total)
                continue
            failures[number] = failure
            if failure.kind == "disk":
                raise _full(stage)
            if error := failure.error():
                raise error
    finally:
        results.close()  # ends the workers now, not when it is collected
    return failures


def _full(stage: Stage) -> ShardsMissing:
    done = len(stage.shards) - len(stage.missing())
    return ShardsMissing(
        f"The disk is full: a worker could not write to '{stage.folder}'.",
        f"Free some space and run the same again: {done} of {len(stage.shards)} shards of"
        f" '{stage.name}' are done.",
    )


def _stopped(stage: Stage, missing: list[int], failures: dict[int, Failure]) -> ShardsMissing:
    names = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
    last = failures[max(failures)].problem if failures else "none was reported"
    done = len(stage.shards) - len(missing)
    return ShardsMissing(
        f"{len(missing)} of {len(stage.shards)} shards of '{stage.name}' failed at every try:"
        f" {names}. The last error: {last.rstrip('.')}.",
        f"Run the same again to try only these; {done} that are done stay in '{stage.folder}'.",
    )
