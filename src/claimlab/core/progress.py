"""How long-running work reports progress: to whoever listens to the run under way, so that no room
depends on a terminal, and no function passes on what it does not use.

    with reporting(bar):
        audit("data")
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Progress(Protocol):
    def __call__(self, label: str, done: int, total: int | None) -> None:
        """`done` of `total` (null: not known) units of the stage `label` are finished."""
        ...


def silent(label: str, done: int, total: int | None) -> None:
    """The default: say nothing."""


_listener: ContextVar[Progress] = ContextVar("progress", default=silent)


@contextmanager
def reporting(listener: Progress) -> Iterator[None]:
    """Whatever runs inside reports to `listener`."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def progress(label: str, done: int, total: int | None) -> None:
    """Report that `done` of `total` (null: not known) units of the stage `label` are finished."""
    _listener.get()(label, done, total)
