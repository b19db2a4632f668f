"""What a process and all those below it take together, from /proc."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.timing import Cost, apart


class Watch:
    """CPU seconds, and the largest sum of resident memory, looked up ten times a second until the
    process has ended.
    """

    def __init__(self, root: int) -> None:
        self.root, self.peak, self._cpu = root, 0, dict[int, float]()
        self._look()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while self.running:
            self._look()
            time.sleep(0.1)

    def _look(self) -> None:
        tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
        relatives = family(self.root)
        self._cpu |= {
            pid: (int(fields[11]) + int(fields[12])) / tick for pid, fields in relatives.items()
        }
        self.peak = max(self.peak, sum(int(fields[21]) * page for fields in relatives.values()))

    @property
    def running(self) -> bool:
        """Without waiting for it, which would take its figures from whoever does."""
        try:
            return stat(self.root)[0] != "Z"
        except OSError:
            return False

    @property
    def cpu(self) -> float:
        """Killed processes included, up to the last look at them."""
        return sum(self._cpu.values())


def stat(pid: int | str) -> list[str]:
    """What /proc/PID/stat says after the name."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def family(root: int) -> dict[int, list[str]]:
    """The process and those below it, with what `stat` says of them."""
    stats: dict[int, list[str]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            stats[int(place.name)] = stat(place.name)
        except OSError:
            continue  # it has ended
    members, before = {root}, 0
    while len(members) > before:
        before = len(members)
        members |= {pid for pid, fields in stats.items() if int(fields[1]) in members}
    return {pid: stats[pid] for pid in members if pid in stats}


def watched(
    function: Callable[..., Any],
    *arguments: Any,
    during: Callable[[Watch], None] | None = None,
    **environment: str,
) -> Cost:
    """As `apart`, with the CPU seconds and the memory of all its processes; `during` is called
    while it runs.
    """
    watches: list[Watch] = []

    def start(pid: int) -> None:
        watches.append(Watch(pid))
        if during is not None:
            during(watches[0])

    cost = apart(function, *arguments, during=start, **environment)
    return replace(cost, cpu=watches[0].cpu, memory=watches[0].peak / 1e6)
