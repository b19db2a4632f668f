"""The engine of the run under way, and the folder in which it may keep shards: known to whatever
the run calls, so that a step deep inside spreads its rows without every function between them
passing an engine on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory


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
