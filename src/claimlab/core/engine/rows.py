"""`over_rows`: a function of a list, on slices of it in several processes, the results in the order
of the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claimlab.core.engine.current import current, place
from claimlab.core.engine.functions import function_named, name_of
from claimlab.core.engine.names import no_folder, parse_engine
from claimlab.core.engine.reads import keep
from claimlab.core.engine.run import run_stage
from claimlab.core.engine.size import SHARE, fitting_workers
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject

if TYPE_CHECKING:
    import polars as pl

LEAST = 20_000  # rows that are worth a process, where the caller does not say


def over_rows(
    function: Callable[..., list[Any]],
    rows: Sequence[Any] | pl.Series,
    *,
    engine: str | None = None,
    least: int | None = None,
    folder: Path | None = None,
    name: str = "rows",
    progress: Progress | None = None,
    memory: int = SHARE,
) -> list[Any]:
    """`function(slice)` on slices of `least` rows; a list of the same length as `rows`. Inline
    where one slice or one process is enough.

    Rows and results are plain JSON; a Polars series is read slice by slice. The function is one of
    functions.py, or a `partial` of one with keywords in plain JSON. `folder` keeps what is done for
    a later start; workers on other machines need it. Without `engine` and `folder` they are those
    of the run under way.
    """
    engine, folder = engine or current().engine, folder or current().folder
    spec, least = parse_engine(engine), least or LEAST
    slices = [(start, min(start + least, len(rows))) for start in range(0, len(rows), least)]
    alone = spec.kind == "local" and (spec.workers or fitting_workers(memory)) == 1
    if len(slices) <= 1 or alone:
        return _inline(function, rows, slices, name, progress or silent)
    if folder is None and spec.is_remote:
        raise no_folder(engine)
    with place(folder) as here:
        shards = [
            _shard(function, list(rows[start:stop]), here / f"{name}-rows")
            for start, stop in slices
        ]
        outputs = run_stage(
            do_rows, shards, folder=here, engine=engine, name=name, progress=progress, memory=memory
        )
        same: dict[
            Any, Any
        ] = {}  # a text that comes again and again, as names of languages do, is held once
        each = (
            result
            for output in outputs
            for result in json.loads(output.read_text(encoding="utf-8"))
        )
        return [
            same.setdefault(result, result) if isinstance(result, str) else result
            for result in each
        ]


def do_rows(shard: Any, output: Path) -> None:
    """One slice of `over_rows`."""
    rows = json.loads(Path(shard["rows"]).read_text(encoding="utf-8"))
    results = _checked(partial(function_named(shard["function"]), **shard["keywords"]), rows)
    output.write_text(json.dumps(results, ensure_ascii=False), encoding="utf-8")


def _shard(function: Callable[..., list[Any]], rows: list[Any], folder: Path) -> JsonObject:
    base, keywords = (
        (function.func, function.keywords) if isinstance(function, partial) else (function, {})
    )
    content = json.dumps(rows, ensure_ascii=False).encode("utf-8")
    return {"function": name_of(base), "keywords": keywords, "rows": keep(folder, content, "json")}


def _inline(
    function: Callable[..., list[Any]],
    rows: Sequence[Any] | pl.Series,
    slices: list[tuple[int, int]],
    name: str,
    progress: Progress,
) -> list[Any]:
    results: list[Any] = []
    for start, stop in slices:
        results += _checked(function, list(rows[start:stop]))
        progress(name, stop, len(rows))
    return results


def _checked(function: Callable[..., list[Any]], rows: list[Any]) -> list[Any]:
    results = function(rows)
    assert len(results) == len(rows), f"{function} gave {len(results)} results for {len(rows)} rows"
    return results
