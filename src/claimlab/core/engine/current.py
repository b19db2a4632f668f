"""The engine of the run under way, and the folder in which it may keep shards: known to whatever the run calls, so
that a step deep inside spreads its rows without every function between them passing an engine on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Current:
    engine: str | None = None
    folder: Path | None = None


_current: ContextVar[Current] = ContextVar("engine", default=Current())  # noqa: B039 - frozen


def current() -> Current:
    return _current.get()


@contextmanager
def working(engine: str | None, folder: Path | None) -> Iterator[None]:
    """Work with this engine inside; null: with the one outside, so that a study's engine is that of its steps."""
    before = _current.set(Current(engine or _current.get().engine, folder))
    try:
        yield
    finally:
        _current.reset(before)
