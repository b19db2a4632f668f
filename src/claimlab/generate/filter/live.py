"""A page that a browser reloads while the filter runs: a row for each metric, with what it has said
so far.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from claimlab.core.atomic import atomic_text
from claimlab.core.guard import refuse_file
from claimlab.generate.filter.metric import Outcome, Reading
from claimlab.pages.blocks import Report, Table
from claimlab.pages.html import to_html

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
TITLE = "Quality filter at work"
SECONDS = 1.0  # between two versions of the page


class Live:
    """Without a `file`, nothing is written."""

    def __init__(self, file: Path | None, names: Sequence[str], *, force: bool = False) -> None:
        self.file = file
        self.rows: dict[str, list[str | int | float | None]] = {}
        self._last = 0.0
        if file is not None:
            refuse_file(file, force=force, kind="live page", sign=TITLE)
        for name in names:
            self._set(name, "waiting", (), None)

    def show(
        self, name: str, state: str, readings: Sequence[Reading] = (), seconds: float | None = None
    ) -> None:
        self._set(name, state, readings, seconds)
        now = time.monotonic()
        if state == "done" or now - self._last >= SECONDS:
            self._last = now
            self.write(reload=True)

    def write(self, *, reload: bool) -> None:
        if self.file is None:
            return
        rows = [[name, *row] for name, row in self.rows.items()]
        heads = ["Metric", "State", *(outcome.capitalize() for outcome in OUTCOMES), "Seconds"]
        words = "Reloads every 2 seconds." if reload else "The filter is done."
        page = to_html(
            Report(TITLE, words, [Table(heads, rows, "Texts by what each metric says of them.")])
        )
        again = '<meta http-equiv="refresh" content="2">\n<title>'
        atomic_text(self.file, page.replace("<title>", again, 1) if reload else page)

    def _set(
        self, name: str, state: str, readings: Sequence[Reading], seconds: float | None
    ) -> None:
        counts = Counter(reading.outcome for reading in readings)
        self.rows[name] = [
            state,
            *(counts[outcome] if readings else None for outcome in OUTCOMES),
            seconds,
        ]
