"""Jobs: commands that a page starts, one at a time, each in a process of its own.

A job is a command of the command line, run in the folder of the workspace exactly as it is shown.
So it resumes, locks its output and leaves the old state whole as that does; a tab may be closed,
and a job that is cancelled gets what Ctrl-C would send.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_args

from fastapi import Depends
from starlette.requests import Request

from claimlab.core.errors import NotFound, UsageError
from claimlab.core.plain import plain
from claimlab.core.types import JsonObject

State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
MOST_WAITING = 20  # jobs that may wait
JOBS_KEPT = 100  # jobs that are remembered
OUTPUT_BYTES_SHOWN = 20_000  # bytes of what a job prints
SECONDS_TO_END = 10.0  # seconds in which a job may end by itself after it was cancelled
UNFINISHED: tuple[State, ...] = ("waiting", "running")
PLACE = ".claimlab-jobs"  # in the workspace, where no walk enters; a later server reads it


@dataclass
class CommandJob:
    """A command, and how far it is. `output` is the folder that it writes, below the workspace."""

    id: str
    words: Sequence[str]
    output: str
    place: Path  # where its output and its progress are kept
    state: State = "waiting"
    process: subprocess.Popen[bytes] | None = None
    began: float | None = None
    ended: float | None = None
    cancelled: bool = False

    def keep(self) -> None:
        """Write down what a later server has to know."""
        summary = {"words": list(self.words), "output": self.output, "state": self.state}
        file = self.place / f"{self.id}.job"
        new = file.with_suffix(".new")
        new.unlink(missing_ok=True)  # a link in a workspace from elsewhere leads nowhere
        new.write_text(json.dumps({**summary, "seconds": self.seconds}), "utf-8")
        new.replace(file)

    @classmethod
    def kept(cls, file: Path) -> CommandJob | None:
        """A job of an earlier server; one that had not ended was interrupted with it."""
        try:
            summary = json.loads(file.read_text("utf-8"))
            words = [str(word) for word in summary["words"]]
            job = cls(file.stem, words, str(summary["output"]), file.parent)
            job.state = "interrupted" if summary["state"] in UNFINISHED else summary["state"]
            job.began, job.ended = 0.0, float(summary["seconds"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        known_state = job.state in get_args(State) and bool(job.words)
        return job if known_state and file.stem.isdecimal() and not file.is_symlink() else None

    @property
    def command(self) -> str:
        return shlex.join(["claimlab", *self.words])

    @property
    def log(self) -> Path:
        return self.place / f"{self.id}.log"

    @property
    def progress_file(self) -> Path:
        return self.place / f"{self.id}.json"

    @property
    def seconds(self) -> float:
        if self.began is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.began

    def end(self, code: int) -> None:
        """A job that had done its work before it heard that it was cancelled is done."""
        self.ended = time.monotonic()
        if code == 0:
            self.state = "done"
        else:
            self.state = "cancelled" if self.cancelled else "failed"

    def printed(self) -> str:
        """The end of what the command printed."""
        if self.log.is_symlink() or not self.log.is_file():
            return ""
        with self.log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - OUTPUT_BYTES_SHOWN))
            return plain(file.read().decode("utf-8", "replace"))

    def progress(self) -> JsonObject:
        """The stage that it is at, where it has said so."""
        try:
            state = json.loads(self.progress_file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}


@dataclass
class Jobs:
    """The jobs of a workspace. A thread runs them, one after another."""

    folder: Path
    on_end: Callable[[], None]
    _jobs: dict[str, CommandJob] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _thread: threading.Thread | None = None
    _closed: bool = False

    def __post_init__(self) -> None:
        here = [] if self._place.is_symlink() else self._place.glob("*.job")
        files = sorted(here, key=lambda file: (len(file.stem), file.stem))
        self._jobs = {job.id: job for file in files if (job := CommandJob.kept(file)) is not None}

    @property
    def _place(self) -> Path:
        return self.folder / PLACE

    def add(self, words: Sequence[str], output: str) -> CommandJob:
        """Start a command, as soon as those before it have ended."""
        with self._changed:
            if len(self.under_way()) >= MOST_WAITING:
                raise UsageError(
                    f"{MOST_WAITING} jobs are waiting already.", "Wait, or cancel some."
                )
            if any(job.output == output for job in self.under_way()):
                raise UsageError(f"A job is about to write '{output}'.", "Choose another name.")
            if self._thread is None:
                if self._place.is_symlink():
                    raise UsageError(f"'{PLACE}' is a link.", "Remove it from the workspace.")
                self._place.mkdir(exist_ok=True)
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
            number = max((int(id) for id in self._jobs), default=0) + 1
            job = CommandJob(str(number), tuple(words), output, self._place)
            job.keep()
            self._jobs[job.id] = job
            self._forget()
            self._changed.notify_all()
            return job

    def get(self, id: str) -> CommandJob:
        if id not in self._jobs:
            raise NotFound(f"There is no job '{id[:100]}'.", "Choose one from the list of jobs.")
        return self._jobs[id]

    def all(self) -> list[CommandJob]:
        """Every job, the newest first."""
        return list(reversed(self._jobs.values()))

    def under_way(self) -> list[CommandJob]:
        return [job for job in self.all() if job.state in UNFINISHED]

    def cancel(self, id: str) -> None:
        """Stop a job as Ctrl-C does; what it has finished so far is kept for the next start."""
        job = self.get(id)
        with self._changed:
            if job.state not in UNFINISHED:
                return
            job.cancelled = True
            if job.process is None:
                job.state = "cancelled"
                job.keep()
                return
        _interrupt(job.process)

    def close(self) -> None:
        """Stop what runs, and start nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        under_way = self.under_way()
        for job in under_way:
            self.cancel(job.id)
        if self._thread is not None:
            self._thread.join(SECONDS_TO_END)
        for job in [waiting for waiting in under_way if waiting.state != "done"]:
            job.state = "interrupted"
            job.keep()

    def _forget(self) -> None:
        ended = [job for job in self._jobs.values() if job.state not in UNFINISHED]
        for job in ended[: max(0, len(self._jobs) - JOBS_KEPT)]:
            del self._jobs[job.id]
            for file in self._place.glob(f"{job.id}.*"):
                file.unlink(missing_ok=True)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._run(job)
            self.on_end()

    def _next(self) -> CommandJob | None:
        with self._changed:
            while not self._closed:
                waiting = [job for job in self._jobs.values() if job.state == "waiting"]
                if waiting:
                    return waiting[0]
                self._changed.wait()
        return None

    def _run(self, job: CommandJob) -> None:
        for file in (job.log, job.progress_file):
            file.unlink(missing_ok=True)
        with job.log.open("xb") as log:
            with self._changed:
                if job.cancelled:
                    job.state = "cancelled"
                    return
                job.process = _started(job, self.folder, log.fileno())
                job.state, job.began = "running", time.monotonic()
            job.keep()
            code = job.process.wait()
        job.end(code)
        job.keep()


def _started(job: CommandJob, folder: Path, log: int) -> subprocess.Popen[bytes]:
    """The process of a job. Python must not look for modules in the workspace, which is data."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    settings = {
        "CLAIMLAB_PROGRESS": str(job.progress_file),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONPATH": os.pathsep.join(str(Path(path).absolute()) for path in paths if path),
        "PYTHONSAFEPATH": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "claimlab", *job.words],
        cwd=folder,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C, and the end of the whole group where that is not heard in time."""

    def end() -> None:
        try:
            process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    threading.Thread(target=end, daemon=True).start()


def jobs_of(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


Queue = Annotated[Jobs, Depends(jobs_of)]
