"""How a thing is timed: seconds of the processor, the least of several goes, peers in turn.

Another program on the machine stretches the clock but hardly touches processor seconds, and what it
does add to them it only ever adds: so the least of several goes is the figure. Peers take turns
within a round, so that a slow minute is slow for all of them.
"""

from __future__ import annotations

import cProfile
import gc
import inspect
import io
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cost:
    """What a job took: processor seconds, seconds by the clock, peak memory in MB (of a process of
    its own), result.
    """

    cpu: float
    wall: float
    memory: float = 0.0
    result: Any = None


def cpu_seconds() -> float:
    """Of all threads and finished child processes so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def peak_mb() -> float:
    """Of this process and, as if they ran one by one, its largest child."""
    parts = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(part).ru_maxrss for part in parts) / 1024


def once(job: Callable[[], Any]) -> Cost:
    gc.collect()
    used, started = cpu_seconds(), time.perf_counter()
    result = job()
    return Cost(cpu_seconds() - used, time.perf_counter() - started, peak_mb(), result)


def least(costs: list[Cost]) -> Cost:
    """The least of each figure, with the result of the last."""
    return Cost(
        min(c.cpu for c in costs),
        min(c.wall for c in costs),
        min(c.memory for c in costs),
        costs[-1].result,
    )


def best(job: Callable[[], Any], repeat: int = 3) -> Cost:
    return least([once(job) for _ in range(repeat)])


def compare(jobs: Mapping[str, Callable[[], Any]], repeat: int = 3) -> dict[str, Cost]:
    """Every job `repeat` times, in turn; a job may give a `Cost` of its own (of a child
    process).
    """
    costs: dict[str, list[Cost]] = {name: [] for name in jobs}
    for _ in range(repeat):
        for name, job in jobs.items():
            cost = once(job)
            costs[name].append(cost.result if isinstance(cost.result, Cost) else cost)
    return {name: least(each) for name, each in costs.items()}


class Killed(SystemExit):
    """A child that was killed; where nobody expects it, it ends the script."""


def in_child(command: list[str], during: Callable[[int], None] | None = None, **more: Any) -> Cost:
    """A command in a process of its own, with its memory; what it prints is the result. A failure
    ends the script.

    It may keep the bytecode of modules, as every peer does that pip installed: else each run
    compiles ours anew.
    """
    more["env"] = {
        k: v for k, v in more.get("env", os.environ).items() if k != "PYTHONDONTWRITEBYTECODE"
    }
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, **more
        ) as child:
            assert child.stdout is not None
            if during is not None:
                during(child.pid)
            output = child.stdout.read()
            _, status, used = os.wait4(
                child.pid, 0
            )  # tells what it used, which Popen's own wait does not
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode < 0:
            raise Killed(f"killed by signal {-child.returncode} (9: out of memory)")
        if child.returncode:
            errors.seek(0)
            sys.exit(f"{' '.join(command)} ended with {child.returncode}:\n{errors.read()}")
    return Cost(
        used.ru_utime + used.ru_stime, time.perf_counter() - started, used.ru_maxrss / 1024, output
    )


def apart(
    function: Callable[..., Any],
    *arguments: Any,
    during: Callable[[int], None] | None = None,
    **environment: str,
) -> Cost:
    """A function of a script in a process of its own, with its memory; arguments and result are as
    JSON has them.
    """
    file = Path(inspect.getfile(function)).resolve()
    code = (
        f"from {file.stem} import {function.__name__} as job;"
        " print(json.dumps(job(*json.loads(sys.argv[1]))))"
    )
    command = [
        sys.executable,
        "-c",
        f"import json, sys; {code}",
        json.dumps(arguments, default=str),
    ]
    path = os.pathsep.join(filter(None, [str(file.parent), os.environ.get("PYTHONPATH")]))
    cost = in_child(command, during, env={**os.environ, "PYTHONPATH": path, **environment})
    return replace(cost, result=json.loads(cost.result.splitlines()[-1]))


def profiled(job: Callable[[], Any], lines: int = 8) -> str:
    """Where our time goes: the functions that take most of it themselves. Next to every figure
    behind a peer's.
    """
    profile = cProfile.Profile()
    profile.runcall(job)
    text = io.StringIO()
    stats = pstats.Stats(profile, stream=text)
    stats.strip_dirs().sort_stats("tottime").print_stats(lines)
    table = [line.rstrip() for line in text.getvalue().splitlines()]
    start = next((i for i, line in enumerate(table) if "ncalls" in line), 0)
    return "\n".join(line for line in table[start:] if line)
