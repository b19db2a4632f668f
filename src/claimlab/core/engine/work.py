"""Beside a run with the engine `shared`: a worker that does some of its shards, and a look at how
far the run is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import polars as pl

from claimlab.core.engine.names import patience
from claimlab.core.engine.secret import VARIABLE, known_secret, stage_key
from claimlab.core.engine.shared import Pause, is_final
from claimlab.core.engine.stage import Failure, Stage, stages_of
from claimlab.core.errors import NotFound, UsageError
from claimlab.core.options import Argument, Option, Place
from claimlab.core.progress import progress
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several

TRIES = 3  # of a shard that fails
IDLE_SECONDS = 600.0  # seconds in which a worker has nothing to do
_INDEX = ("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX")
_COUNT = "SLURM_ARRAY_TASK_COUNT"
RunFolder = Annotated[Place, Argument("The output folder of the run, as its command names it.")]


@dataclass(frozen=True, repr=False)
class Worked(Shown):
    """What `engine_work` did: shards that it finished, and the last error of each that failed at
    every try.
    """

    done: int
    failures: dict[str, str]

    @property
    def table(self) -> pl.DataFrame:
        rows = {"shard": list(self.failures), "error": list(self.failures.values())}
        return pl.DataFrame(rows, schema={"shard": pl.String, "error": pl.String})

    def headline(self) -> str:
        return f"{several(self.done, 'shard')} done, {len(self.failures):,} failed"

    def after(self, stage: Stage, shard: int, failure: Failure | None) -> Worked:
        """The same with one more shard."""
        progress(stage.name, shard + 1, len(stage.shards))
        if failure is None:
            return replace(self, done=self.done + 1)
        new = {f"{stage.name} {shard}": failure.problem} if stage.is_current() else {}
        return replace(self, failures=self.failures | new)


def engine_work(
    run: RunFolder,
    *,
    shard: Annotated[
        int | None,
        Option("Which shard; default SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX.", least=0),
    ] = None,
    of: Annotated[
        int | None,
        Option(
            "Number of workers: do every such shard of all stages, to the end of the run.", least=1
        ),
    ] = None,
    secret: Annotated[
        Place | None,
        Option("File with the secret of the run; default CLAIMLAB_ENGINE_SECRET, or your own."),
    ] = None,
) -> Worked:
    """Do shard number `shard` of every stage of `run`, the output folder of a run with
    `engine="shared"`.

    With `of`, this is one of that many workers: it does the shards `shard`, `shard + of`, `shard +
    2 * of` … of every stage, waits for the next stage, and ends with the run. By default `shard` is
    `SLURM_ARRAY_TASK_ID` or `JOB_COMPLETION_INDEX`, and `of` is `SLURM_ARRAY_TASK_COUNT`. A shard
    that fails is tried twice more.

    `secret` is a file with the secret of the run; by default it is `CLAIMLAB_ENGINE_SECRET`, or the
    file that the run made for this user. A stage that was not sealed with it is refused.
    """
    number, workers = _position(shard, of)
    pause, wait, output = Pause(), patience(IDLE_SECONDS), Path(run)
    worked, began = Worked(0, {}), False
    while True:
        stages = stages_of(output, partial(_key, secret))
        began = began or bool(stages)
        for stage, shard_number in _mine(stages, number, workers):
            worked = worked.after(stage, shard_number, _persist(stage, shard_number))
            pause.news()
        ended = output.exists() and not stages
        if workers is None or (ended and (began or pause.quiet > wait)):
            break
        if pause.quiet > wait:
            raise NotFound(
                f"'{run}' has had no work for {wait:g} seconds.",
                "Start the run with the engine 'shared', and this worker again.",
            )
        pause.sleep()
    if not began and not output.exists():
        raise NotFound(
            f"'{run}' has no stage to work on.", "Start the run with the engine 'shared' first."
        )
    return worked


def _key(secret: str | Path | None, salt: str) -> bytes:
    own = known_secret(secret)
    if own is None:
        raise UsageError(
            "This worker does not have the secret of the run.",
            f"Pass `secret`, a copy of the file that the run names, or set {VARIABLE} as the run"
            " has it.",
        )
    return stage_key(own, salt)


def _mine(stages: list[Stage], number: int, workers: int | None) -> Iterator[tuple[Stage, int]]:
    """The shards of this worker that are neither done nor given up."""
    for stage in stages:
        for shard in range(number, len(stage.shards), workers or max(len(stage.shards), 1)):
            failure = stage.failure(shard)
            if not stage.is_done(shard) and (failure is None or not is_final(failure, TRIES)):
                yield stage, shard


def _persist(stage: Stage, number: int) -> Failure | None:
    while (failure := stage.do(number)) is not None and not is_final(failure, TRIES):
        if not stage.is_current():
            return failure  # the run has ended, was stopped, or began anew
    return failure


def _position(shard: int | None, of: int | None) -> tuple[int, int | None]:
    if shard is None:
        index = next((os.environ[name] for name in _INDEX if name in os.environ), "")
        if not index.isdigit():
            raise UsageError(
                "No shard given.", "Pass `shard`, or start this in a Slurm array or an Indexed Job."
            )
        shard = int(index)
        if of is None and os.environ.get(_COUNT, "").isdigit():
            of = int(os.environ[_COUNT])
    if shard < 0 or (of is not None and shard >= of):
        raise UsageError(
            f"There is no shard {shard} of {of}." if of else "A shard is 0 or more.",
            "Count from 0.",
        )
    return shard, of


@dataclass(frozen=True, repr=False)
class EngineStatus(Shown):
    """How far the stages of a run are: shards, how many are done, how many failed, and the last
    error.
    """

    run: str
    stages: list[JsonObject]
    # false: this process does not have the secret, and has believed what the markers say
    sealed: bool = True

    @property
    def table(self) -> pl.DataFrame:
        kinds = {
            "stage": pl.String,
            "shards": pl.Int64,
            "done": pl.Int64,
            "failed": pl.Int64,
            "error": pl.String,
        }
        return pl.DataFrame(self.stages, schema=kinds)

    def headline(self) -> str:
        finished, total = (sum(row[name] for row in self.stages) for name in ("done", "shards"))
        doubt = "" if self.sealed else " (not verified: the secret of the run is not here)"
        if not self.stages:
            return f"'{self.run}': no stage"
        return f"'{self.run}': {finished} of {several(total, 'shard')} done{doubt}"

    def to_json(self) -> JsonObject:
        return {"run": self.run, "stages": self.stages, "sealed": self.sealed}


def engine_status(run: RunFolder) -> EngineStatus:
    """How far `run` is: its stages in the order they began. A run that has ended has none."""
    rows, sealed = [], known_secret() is not None
    for stage in stages_of(Path(run), partial(_key, None) if sealed else None):
        missing = stage.missing()
        failures = [failure for number in missing if (failure := stage.failure(number))]
        rows.append(
            {
                "stage": stage.name,
                "shards": len(stage.shards),
                "done": len(stage.shards) - len(missing),
                "failed": len(failures),
                "error": failures[-1].problem if failures else None,
            }
        )
    if not rows and not Path(run).exists():
        raise NotFound(f"'{run}' is not a run with stages.", "Name the output folder of the run.")
    return EngineStatus(str(run), rows, sealed)
