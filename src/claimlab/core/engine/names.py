"""Which engine does the work: the one that a word names (`local`, `local:4`, `dask`,
`dask://HOST:PORT` or `shared`), or that of the run under way, with the folder in which it may keep
shards. The latter is known to whatever the run calls, so that a step deep inside spreads its rows
without every function between them passing an engine on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from claimlab.core.errors import UsageError
from claimlab.core.machine import fitting_workers

_TODO = "Choose 'local', 'local:N' (N processes), 'dask', 'dask://HOST:PORT' or 'shared'."


@dataclass(frozen=True)
class Engine:
    """`workers` is how many processes were asked for (null: as many as cores and memory allow)."""

    kind: str = "local"
    workers: int | None = None
    address: str | None = None

    @property
    def is_remote(self) -> bool:
        """Whether workers may be on other machines, which see nothing but a shared folder."""
        return self.kind == "shared" or self.address is not None

    @property
    def is_alone(self) -> bool:
        """Whether one process does it all."""
        return self.kind == "local" and (self.workers or fitting_workers()) == 1


def parse_engine(engine: str | None) -> Engine:
    """The engine that the word means; nothing is started or connected to."""
    if engine is None or engine == "local":
        return Engine()
    if engine in ("dask", "shared"):
        return Engine(engine)
    if match := re.fullmatch(r"local:([1-9]\d{0,4})", engine):
        return Engine("local", workers=int(match[1]))
    if match := re.fullmatch(r"dask://(\[[0-9a-fA-F:]+\]|[\w.-]+):(\d{1,5})", engine):
        return Engine("dask", address=f"tcp://{match[1]}:{match[2]}")
    raise UsageError(f"'{engine}' is not a valid engine.", _TODO)


def no_folder(engine: str | None) -> UsageError:
    return UsageError(
        f"The engine '{engine}' works through a folder that all machines see.",
        "Pass `output` on shared storage.",
    )


def patience(default: float) -> float:
    """How many seconds to wait for workers: `CLAIMLAB_ENGINE_WAIT`, or the default of the
    engine.
    """
    word = os.environ.get("CLAIMLAB_ENGINE_WAIT")
    try:
        seconds = default if word is None else float(word)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"CLAIMLAB_ENGINE_WAIT is '{word}'.", "Set it to a number of seconds.")
    return seconds


@dataclass(frozen=True)
class Current:
    engine: str | None = None
    folder: Path | None = None


_current: ContextVar[Current] = ContextVar("engine", default=Current())  # noqa: B039 - frozen


def current() -> Current:
    return _current.get()


def shares() -> bool:
    """Whether the run under way was told to share its work: for parts that are shared only when
    asked for.
    """
    return _current.get().engine not in (None, "local:1")


@contextmanager
def place(folder: Path | None = None) -> Iterator[Path]:
    """A folder for stages: the one that was passed in, that of the run under way, or one that is
    removed afterwards.
    """
    folder = folder or _current.get().folder
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory(prefix="claimlab-") as name:
        yield Path(name)


@contextmanager
def working(engine: str | None, folder: Path | None) -> Iterator[None]:
    """Work with this engine inside; null: with the one outside, so that a study's engine is that of
    its steps.
    """
    before = _current.set(Current(engine or _current.get().engine, folder))
    try:
        yield
    finally:
        _current.reset(before)
