"""What tests cost, for the tests themselves: files that took longest before are begun first, a test
that must be alone is alone, and a quick test that is not quick is named at the end.

The seconds of each file are kept in `tests/durations.json`; `--store-durations` renews them, best
on a machine that does nothing else. A file that is not there yet is taken for a middling one.
"""

from __future__ import annotations

import gc
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from parts.forked import FORKS, Taken

try:
    import fcntl
    import resource
except ImportError:  # Windows: tests run one after another there
    fcntl = resource = None  # type: ignore[assignment]

STORE = Path(__file__).resolve().parents[2] / "tests" / "durations.json"
EACH = Path(__file__).resolve().parents[2] / "build" / "test-times.json"  # CPU seconds by test
QUICK = 2.0  # seconds of processor time: a test that takes more is marked `slow`
SHORT = 0.5  # seconds: files that take less are not worth a line


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def stored(store: Path = STORE) -> dict[str, float]:
    """Seconds by file."""
    return json.loads(store.read_text(encoding="utf-8")) if store.is_file() else {}


def in_order(items: list[pytest.Item], seconds: dict[str, float]) -> list[pytest.Item]:
    """The files that take longest first, each whole and as it was; last those with a test that must
    be alone, for which all others wait.
    """
    middling = median(seconds.values()) if seconds else 0.0
    alone = {file_of(item.nodeid) for item in items if item.get_closest_marker("alone")}

    def place(item: pytest.Item) -> tuple[bool, float]:
        file = file_of(item.nodeid)
        return file in alone, -seconds.get(file, middling)

    first = {item.nodeid: number for number, item in enumerate(items)}
    files = {file: number for number, file in enumerate(dict.fromkeys(map(file_of, first)))}
    return sorted(items, key=lambda item: (place(item), files[file_of(item.nodeid)]))


def cpu_seconds() -> float:
    """Of this process and those that it has waited for."""
    if resource is None:
        return 0.0
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


class Times:
    """The plugin: register it in `pytest_configure`."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seconds: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)
        self.long: dict[str, float] = {}
        self.before = 0.0
        self.forked = Taken()
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
        self.turns = Turns(Path(tempfile.gettempdir()) / f"tests-{run}") if run and fcntl else None

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        """What is collected stays until the end: looking through it for garbage again and again
        took a third of the time of collecting.
        """
        gc.disable()
        try:
            return (yield)
        finally:
            gc.freeze()
            gc.enable()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.turns is not None:  # one after another, the order of the files is easier to follow
            items[:] = in_order(items, stored())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if self.turns is not None:
            self.turns.take(alone=item.get_closest_marker("alone") is not None)
        self.before = self.processor(item.nodeid)
        try:
            return (yield)
        finally:
            if self.turns is not None:
                self.turns.leave()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[Any]:
        report = yield
        now = self.processor(item.nodeid)
        report.cpu, self.before = now - self.before, now
        report.quick = item.get_closest_marker("slow") is None
        return report

    def processor(self, test: str) -> float:
        """Seconds so far: of this process, those that it has waited for, and those that were forked
        for the test.
        """
        return cpu_seconds() + (self.forked.by(test) if FORKS else 0.0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        used = getattr(report, "cpu", 0.0)
        self.seconds[file_of(report.nodeid)] += report.duration
        self.cpu[report.nodeid] += used
        if getattr(report, "quick", False) and report.when == "call" and used > QUICK:
            self.long[report.nodeid] = used

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for name, used in sorted(self.long.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(
                f"WARNING: {name} is not marked slow and took {used:.1f} s of processor time"
            )

    def pytest_sessionfinish(self) -> None:
        if self.config.getoption("--store-durations") and not os.environ.get("PYTEST_XDIST_WORKER"):
            store(self.seconds)
            EACH.parent.mkdir(exist_ok=True)
            EACH.write_text(json.dumps({t: round(s, 2) for t, s in self.cpu.items()}, indent=0))


def store(seconds: dict[str, float], place: Path = STORE) -> None:
    """Renew the files that were run, and drop those that are gone."""
    root = STORE.parents[1]
    kept = {file: took for file, took in stored(place).items() if (root / file).is_file()}
    kept |= {file: round(took, 1) for file, took in seconds.items()}
    text = json.dumps({f: s for f, s in sorted(kept.items()) if s >= SHORT}, indent=1)
    place.write_text(text + "\n", encoding="utf-8")


class Turns:
    """Workers run tests side by side, but for one that must be alone: it waits until the others
    have ended the test that they are at, and they wait until it is over.
    """

    def __init__(self, place: Path) -> None:
        place.mkdir(exist_ok=True)
        self.gate = (place / "gate").open("w")  # who waits to be alone holds it
        self.room = (place / "room").open("w")

    def take(self, *, alone: bool) -> None:
        kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        fcntl.flock(self.gate, kind)
        fcntl.flock(self.room, kind)
        fcntl.flock(self.gate, fcntl.LOCK_UN)

    def leave(self) -> None:
        fcntl.flock(self.room, fcntl.LOCK_UN)
