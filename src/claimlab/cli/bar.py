"""One bar on stderr for the whole of a verb: it moves, says how long it will take, and leaves
nothing behind.

Long work reports stages (`core/progress.py`), some within others: the bar shows the innermost,
behind the names of those around it. A stage whose end is not known, and the time between two
stages, move too.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from claimlab.core.atomic import quick_text
from claimlab.core.plain import one_line
from claimlab.core.progress import Progress

BAR_WIDTH = 24
MINUTE = 60.0  # seconds between two lines of a log
PAUSE = 0.2  # seconds between two reports on one stage to a program


@dataclass
class StageProgress:
    label: str
    done: int
    total: int | None
    first: int = 0  # how much was done at its first report: a resumed run starts in the middle
    began: float = field(default_factory=time.monotonic)
    updated: float = field(default_factory=time.monotonic)

    def is_same(self, label: str, done: int, total: int | None) -> bool:
        """A stage may name its steps ("audit: length", "audit: time"); what it counts stays the
        same.
        """
        alike = self.label == label or self.label.split(":")[0] == label.split(":")[0]
        return alike and self.total == total and done >= self.done

    @property
    def over(self) -> bool:
        return self.total is not None and self.done >= self.total

    def left(self, now: float) -> float | None:
        """Seconds to go, by the pace so far; null where that is not known yet."""
        if self.total is None or self.over or self.done <= self.first:
            return None
        pace = (self.updated - self.began) / (self.done - self.first)
        return max(0.0, pace * (self.total - self.done) - (now - self.updated))


class Stages:
    """The stages under way, outermost first."""

    def __init__(self) -> None:
        self.open: list[StageProgress] = []

    def update(self, label: str, done: int, total: int | None) -> None:
        for depth, stage in enumerate(self.open):
            if stage.is_same(label, done, total):
                del self.open[depth + 1 :]
                stage.label, stage.done, stage.updated = label, done, time.monotonic()
                return
        while self.open and (self.open[-1].over or self.open[-1].total is None):
            self.open.pop()
        self.open.append(StageProgress(label, done, total, done))

    def label(self) -> str:
        return " · ".join(one_line(stage.label) for stage in self.open[-2:])

    def count(self) -> str:
        last = self.open[-1]
        if last.total is None or last.over:
            return f"{last.done:,}" if last.done and not last.over else ""
        return f"{last.done:,}/{last.total:,}"


def time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{clock} left"


def to_file(file: Path) -> Progress:
    """Progress for a program that watches: `file` holds the latest of it as one JSON object."""
    stages, moment, last = Stages(), float("-inf"), ""

    def update(label: str, done: int, total: int | None) -> None:
        nonlocal moment, last
        stages.update(label, done, total)
        now = time.monotonic()
        if label == last and now - moment < PAUSE:
            return
        moment, last = now, label
        left = time_left(stages.open[-1].left(now))
        state = {"stage": stages.label(), "done": done, "total": total, "left": left}
        quick_text(file, json.dumps(state))

    return update


def to_log(stream: TextIO, every: float = MINUTE) -> Progress:
    """Progress for a log: a line of `stream` a minute, so that a short run says nothing."""
    stages, moment = Stages(), time.monotonic()

    def update(label: str, done: int, total: int | None) -> None:
        nonlocal moment
        stages.update(label, done, total)
        now = time.monotonic()
        if now - moment < every:
            return
        moment = now
        parts = (stages.label(), stages.count(), time_left(stages.open[-1].left(now)))
        stream.write(f"{' '.join(filter(None, parts))}\n")
        stream.flush()

    return update


@contextlib.contextmanager
def bar(start: str) -> Iterator[Progress]:
    """A bar while the block lasts; `start` is what it says before the first stage."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    stages = Stages()

    class Left(ProgressColumn):
        def render(self, task: Any) -> Text:  # noqa: ARG002
            return Text(time_left(stages.open[-1].left(time.monotonic()) if stages.open else None))

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(BAR_WIDTH),
        TextColumn("{task.fields[count]}"),
    )
    with Bars(*columns, Left(), console=Console(stderr=True), transient=True) as bars:
        bars.add_task(escape(start), total=None, count="")
        (shown_task,) = bars.tasks

        def update(label: str, done: int, total: int | None) -> None:
            stages.update(label, done, total)
            shown_task.description, shown_task.fields["count"] = (
                escape(stages.label()),
                stages.count(),
            )
            # `Bars.update` cannot take a total back: a bar without one pulses, as it must between
            # stages.
            shown_task.completed, shown_task.total = done, None if stages.open[-1].over else total

        yield update
