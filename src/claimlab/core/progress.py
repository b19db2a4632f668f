"""How long-running work reports progress: through a function passed in, so that no room depends on
a terminal.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    def __call__(self, label: str, done: int, total: int | None) -> None:
        """`done` of `total` (null: not known) units of the stage `label` are finished."""
        ...


def silent(label: str, done: int, total: int | None) -> None:
    """The default: say nothing."""
