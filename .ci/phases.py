"""The phases of CI, one after another, each with its minutes by the clock and of the processor.

Both are printed at the end and kept in build/ci-times.json, with the tests that failed and then
passed by themselves: such a test does not fail the run, but it is counted and named. The first
phase that fails ends the run. All of it ends after 90 minutes; the aim is 15 on two cores.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMES = ROOT / "build" / "ci-times.json"
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
LIMIT = 90 * 60  # seconds
ADOPT = 36  # PR_SET_CHILD_SUBREAPER: processes whose parent has ended are counted as well

Phase = Callable[[], bool]


def make(*targets: str) -> bool:
    print("make", *targets, flush=True)
    return subprocess.run(["make", *targets], cwd=ROOT).returncode == 0


def install() -> bool:
    return make(".venv/.neural")


def lint() -> bool:
    return make("lint")


def tests() -> bool:
    """With the types beside them. The tests that fail are run once more, one after another."""
    FAILED.unlink(missing_ok=True)
    if make("--jobs", "2", "types", "test-every"):
        return True
    if not FAILED.is_file():  # no test failed: it was the types, or tests could not be collected
        return False
    failed = sorted(json.loads(FAILED.read_text(encoding="utf-8")))
    print(f"{len(failed)} tests failed and run once more, by themselves", flush=True)
    if not (make("types") and make("test-failed")):
        return False
    flaky.extend(failed)
    return True


def speed() -> bool:
    return make("bench-quick") or make("bench-quick")  # it retries by itself, too


def demo() -> bool:
    return make("demo")


def packages() -> bool:
    return make("sbom", "audit-deps")


flaky: list[str] = []
PHASES: list[Phase] = [install, lint, tests, speed, demo, packages]


def processor_seconds() -> float:
    """Of all processes that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def out_of_time(*_: object) -> None:
    sys.exit(f"CI ran for {LIMIT // 60} minutes: it is stopped")


def main() -> int:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(LIMIT)
    rows: list[dict[str, str | float]] = []
    passed = True
    try:
        for phase in PHASES:
            began, before = time.monotonic(), processor_seconds()
            passed = False
            passed = phase()
            took = (time.monotonic() - began) / 60
            used = (processor_seconds() - before) / 60
            name = str(phase.__name__)
            rows.append({"phase": name, "minutes": round(took, 1), "cpu_minutes": round(used, 1)})
            if not passed:
                break
    finally:
        report(rows, passed)
    return 0 if passed else 1


def report(rows: list[dict[str, str | float]], passed: bool) -> None:
    units = ("minutes", "cpu_minutes")
    sums = {unit: round(sum(float(row[unit]) for row in rows), 1) for unit in units}
    for row in [*rows, {"phase": "all", **sums}]:
        print(f"{row['phase']:10} {row['minutes']:6} min  {row['cpu_minutes']:6} CPU min")
    for name in flaky:
        print(f"::warning::{name} failed and then passed by itself")
    print(f"{len(flaky)} flaky tests; {'passed' if passed else 'FAILED'}", flush=True)
    TIMES.parent.mkdir(exist_ok=True)
    kept = {"passed": passed, "phases": rows, "all": sums, "flaky": flaky}
    TIMES.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
