"""The local engine: a few worker processes of this machine, each asked for one shard at a time.

Workers are fresh processes, not forks: compiled libraries with threads of their own do not survive
a fork.
"""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

from claimlab.core.engine.stage import Failure, Result, Stage
from claimlab.core.machine import environment, fitting_workers

# seconds: Polars restarts a wait that Ctrl-C would have ended, so none is without end
_GLANCE_SECONDS = 0.2


def attempt(
    stage: Stage, shards: Sequence[int], workers: int | None, memory: int
) -> Iterator[Result]:
    """Do each of the shards once and yield what became of it, in the order they end. Leaving the
    loop ends the workers at once."""
    workers = min(fitting_workers(memory) if workers is None else workers, len(shards))
    if workers <= 1:
        for number in shards:
            yield number, stage.do(number)
        return
    crew = _Crew(stage, shards, workers)
    try:
        yield from crew.results()
    finally:
        crew.end()


class _Crew:
    """Workers and the threads that ask them. A worker that is killed costs its shard one try;
    another takes over.
    """

    def __init__(self, stage: Stage, shards: Sequence[int], workers: int) -> None:
        self._stage, self._environment = stage, environment(workers)
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in shards:
            self._waiting.put(number)
        self._results: queue.SimpleQueue[Result | None] = queue.SimpleQueue()
        self._processes: list[subprocess.Popen[str]] = []
        self._guard, self._ended = threading.Lock(), False
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def results(self) -> Iterator[Result]:
        running = len(self._threads)
        while running:
            try:
                result = self._results.get(timeout=_GLANCE_SECONDS)
            except queue.Empty:
                continue
            if result is None:
                running -= 1
            else:
                yield result

    def end(self) -> None:
        with self._guard:
            self._ended = True
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        process = None
        try:
            while not self._waiting.empty():
                process = process or self._start()
                try:
                    number = self._waiting.get_nowait()
                except queue.Empty:
                    break
                answer = _ask(process, number)
                self._results.put((number, answer))
                if answer is not None and answer.kind == "lost":
                    process = None
        except OSError as error:  # no process can be started
            self._results.put((-1, Failure.of(error)))
        finally:
            if process is not None:
                process.communicate()  # closes its input, which ends it
            self._results.put(None)

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "claimlab.core.engine.worker", str(self._stage.folder)]
        with self._guard:
            if self._ended:
                raise OSError("the run has ended")
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
                text=True,
            )
            self._processes.append(process)
        assert process.stdin is not None
        assert self._stage.key is not None
        with contextlib.suppress(
            OSError
        ):  # it has ended: the first shard that it is asked for says so
            process.stdin.write(f"{self._stage.key.hex()}\n")
        return process


def _ask(process: subprocess.Popen[str], number: int) -> Failure | None:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except OSError:
        answer = ""
    if answer.endswith("\n"):
        failure = json.loads(answer)
        return None if failure is None else Failure(**failure)
    return Failure("lost", f"its process ended ({_ending(process.wait())})")


def _ending(code: int) -> str:
    if code == -9:
        return "killed, as the system does where memory is short"
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
