"""The one way in which work is spread over processes and machines: `run_stage` for shards, and
`over_rows` for a function of a list, on slices of it. The result does not depend on the engine or
on the number of workers: a shard's output is a function of the shard, and outputs come back in the
order of the shards, or of the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from claimlab.core.engine import local, shared
from claimlab.core.engine.functions import function_named, name_of
from claimlab.core.engine.names import Engine, current, no_folder, parse_engine, place
from claimlab.core.engine.reads import keep
from claimlab.core.engine.stage import Failure, Result, Stage, Work
from claimlab.core.errors import ShardsMissing
from claimlab.core.machine import WORKER_BYTES
from claimlab.core.progress import Progress, silent
from claimlab.core.types import Json, JsonObject

if TYPE_CHECKING:
    import polars as pl


RETRIES = 2
LEAST_ROWS = 20_000  # rows that are worth a process, where the caller does not say


def run_stage(
    work: Work,
    shards: Sequence[Json],
    *,
    folder: Path,
    engine: str | None = None,
    name: str = "shards",
    progress: Progress | None = None,
    memory: int = WORKER_BYTES,
) -> list[Path]:
    """Call `work(shard, output)` for each of the shards, and return the outputs in the order of the
    shards.

    `work` is a function of functions.py; a shard is plain JSON (numbers, words, what it reads: see
    reads.py); `output` is the file or folder that it writes. Everything lies in `folder`/`name`,
    which remote workers must see, too. A shard that is done is not done again by a later start. A
    shard that fails is tried `RETRIES` times more; where that does not help, the others are
    finished and the run stops with what is missing. `memory` is about how many bytes a worker
    needs. Without `engine` it is that of the run under way.
    """
    spec, tell = parse_engine(engine or current().engine), progress or silent
    stage = Stage.open(Path(folder) / name, work, shards)
    if not spec.is_remote:
        stage.sweep()
    missing = stage.missing()
    failures = {}
    for _ in range(
        1 if spec.kind == "shared" else 1 + RETRIES
    ):  # shared workers try again by themselves
        if not missing:
            break
        tell(name, len(shards) - len(missing), len(shards))
        failures = _round(stage, _attempt(stage, missing, spec, memory, 1 + RETRIES), tell)
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
    failures = {}
    finished, total = len(stage.shards) - len(stage.missing()), len(stage.shards)
    try:
        for number, failure in results:
            if failure is None:
                finished += 1
                tell(stage.name, finished, total)
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
    finished = len(stage.shards) - len(stage.missing())
    return ShardsMissing(
        f"The disk is full: a worker could not write to '{stage.folder}'.",
        f"Free some space and run the same again: {finished} of {len(stage.shards)} shards of"
        f" '{stage.name}' are done.",
    )


def _stopped(stage: Stage, missing: list[int], failures: dict[int, Failure]) -> ShardsMissing:
    names = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
    last = failures[max(failures)].problem if failures else "none was reported"
    finished = len(stage.shards) - len(missing)
    return ShardsMissing(
        f"{len(missing)} of {len(stage.shards)} shards of '{stage.name}' failed at every try:"
        f" {names}. The last error: {last.rstrip('.')}.",
        f"Run the same again to try only these; {finished} that are done stay in '{stage.folder}'.",
    )


def over_rows(
    function: Callable[..., list[Json]],
    rows: Sequence[Json] | pl.Series,
    *,
    engine: str | None = None,
    least: int | None = None,
    folder: Path | None = None,
    name: str = "rows",
    progress: Progress | None = None,
) -> list[Json]:
    """`function(slice)` on slices of `least` rows; a list of the same length as `rows`. Inline
    where one slice or one process is enough.

    Rows and results are plain JSON; a Polars series is read slice by slice. The function is one of
    functions.py, or a `partial` of one with keywords in plain JSON. `folder` keeps what is done for
    a later start; workers on other machines need it. Without `engine` and `folder` they are those
    of the run under way.
    """
    engine, folder, least = (
        engine or current().engine,
        folder or current().folder,
        least or LEAST_ROWS,
    )
    spec = parse_engine(engine)
    slices = [(start, min(start + least, len(rows))) for start in range(0, len(rows), least)]
    if len(slices) <= 1 or spec.is_alone:
        return _inline(function, rows, slices, name, progress or silent)
    if folder is None and spec.is_remote:
        raise no_folder(engine)
    with place(folder) as here:
        shards = [
            _shard(function, list(rows[start:stop]), here / f"{name}-rows")
            for start, stop in slices
        ]
        outputs = run_stage(
            do_rows, shards, folder=here, engine=engine, name=name, progress=progress
        )
        return _joined(outputs)


def _joined(outputs: Sequence[Path]) -> list[Json]:
    """The results of all slices. A text that comes again and again, as names of languages do, is
    held once.
    """
    once: dict[str, str] = {}
    results: list[Json] = []
    for output in outputs:
        for result in json.loads(output.read_bytes()):
            results.append(once.setdefault(result, result) if isinstance(result, str) else result)
    return results


def do_rows(shard: Json, output: Path) -> None:
    """One slice of `over_rows`."""
    rows = json.loads(Path(shard["rows"]).read_bytes())
    results = _checked(partial(function_named(shard["function"]), **shard["keywords"]), rows)
    output.write_text(json.dumps(results, ensure_ascii=False), encoding="utf-8")


def _shard(function: Callable[..., list[Json]], rows: list[Json], folder: Path) -> JsonObject:
    base, keywords = (
        (function.func, function.keywords) if isinstance(function, partial) else (function, {})
    )
    content = json.dumps(rows, ensure_ascii=False).encode("utf-8")
    return {"function": name_of(base), "keywords": keywords, "rows": keep(folder, content, "json")}


def _inline(
    function: Callable[..., list[Json]],
    rows: Sequence[Json] | pl.Series,
    slices: list[tuple[int, int]],
    name: str,
    progress: Progress,
) -> list[Json]:
    results = []
    for start, stop in slices:
        results += _checked(function, list(rows[start:stop]))
        progress(name, stop, len(rows))
    return results


def _checked(function: Callable[..., list[Json]], rows: list[Json]) -> list[Json]:
    results = function(rows)
    assert len(results) == len(rows), f"{function} gave {len(results)} results for {len(rows)} rows"
    return results
