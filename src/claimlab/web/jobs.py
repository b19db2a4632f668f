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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import quote

from fastapi import Depends
from fastapi.responses import FileResponse
from starlette.requests import Request

from claimlab.core.call import CALL
from claimlab.core.dataset import RECORDS
from claimlab.core.errors import NotFound, UsageError
from claimlab.core.plain import plain
from claimlab.core.types import JsonObject
from claimlab.exchange.format import MARKER
from claimlab.web.page import Done, Here, page, routes
from claimlab.web.workspace import NAME, Place, Shape, Workspace, audits_in

State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
MOST = 20  # jobs that may wait
KEPT = 100  # jobs that are remembered
SHOWN = 20_000  # bytes of what a job prints
MOST_FILES = 200  # of an export that are listed
NOTES = (CALL, MARKER)  # among them
PATIENCE = 10.0  # seconds in which a job may end by itself after it was cancelled
OPEN: tuple[State, ...] = ("waiting", "running")
PLACE = ".claimlab-jobs"  # in the workspace, where no walk enters; a later server reads it


@dataclass
class Job:
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
        known = {"words": list(self.words), "output": self.output, "state": self.state}
        file = self.place / f"{self.id}.job"
        new = file.with_suffix(".new")
        new.unlink(missing_ok=True)  # a link in a workspace from elsewhere leads nowhere
        new.write_text(json.dumps({**known, "seconds": self.seconds}), "utf-8")
        new.replace(file)

    @classmethod
    def kept(cls, file: Path) -> Job | None:
        """A job of an earlier server; one that had not ended was interrupted with it."""
        try:
            known = json.loads(file.read_text("utf-8"))
            words = [str(word) for word in known["words"]]
            job = cls(file.stem, words, str(known["output"]), file.parent)
            job.state = "interrupted" if known["state"] in OPEN else known["state"]
            job.began, job.ended = 0.0, float(known["seconds"])
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
            file.seek(max(0, size - SHOWN))
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
    _jobs: dict[str, Job] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _thread: threading.Thread | None = None
    _closed: bool = False

    def __post_init__(self) -> None:
        here = [] if self._place.is_symlink() else self._place.glob("*.job")
        files = sorted(here, key=lambda file: (len(file.stem), file.stem))
        self._jobs = {job.id: job for file in files if (job := Job.kept(file)) is not None}

    @property
    def _place(self) -> Path:
        return self.folder / PLACE

    def add(self, words: Sequence[str], output: str) -> Job:
        """Start a command, as soon as those before it have ended."""
        with self._changed:
            if len(self.under_way()) >= MOST:
                raise UsageError(f"{MOST} jobs are waiting already.", "Wait, or cancel some.")
            if any(job.output == output for job in self.under_way()):
                raise UsageError(f"A job is about to write '{output}'.", "Choose another name.")
            if self._thread is None:
                if self._place.is_symlink():
                    raise UsageError(f"'{PLACE}' is a link.", "Remove it from the workspace.")
                self._place.mkdir(exist_ok=True)
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
            number = max((int(id) for id in self._jobs), default=0) + 1
            job = Job(str(number), tuple(words), output, self._place)
            job.keep()
            self._jobs[job.id] = job
            self._forget()
            self._changed.notify_all()
            return job

    def get(self, id: str) -> Job:
        if id not in self._jobs:
            raise NotFound(f"There is no job '{id[:100]}'.", "Choose one from the list of jobs.")
        return self._jobs[id]

    def all(self) -> list[Job]:
        """Every job, the newest first."""
        return list(reversed(self._jobs.values()))

    def under_way(self) -> list[Job]:
        return [job for job in self.all() if job.state in OPEN]

    def cancel(self, id: str) -> None:
        """Stop a job as Ctrl-C does; what it has finished so far is kept for the next start."""
        job = self.get(id)
        with self._changed:
            if job.state not in OPEN:
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
            self._thread.join(PATIENCE)
        for job in [one for one in under_way if one.state != "done"]:
            job.state = "interrupted"
            job.keep()

    def _forget(self) -> None:
        ended = [job for job in self._jobs.values() if job.state not in OPEN]
        for job in ended[: max(0, len(self._jobs) - KEPT)]:
            del self._jobs[job.id]
            for file in self._place.glob(f"{job.id}.*"):
                file.unlink(missing_ok=True)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._run(job)
            self.on_end()

    def _next(self) -> Job | None:
        with self._changed:
            while not self._closed:
                waiting = [job for job in self._jobs.values() if job.state == "waiting"]
                if waiting:
                    return waiting[0]
                self._changed.wait()
        return None

    def _run(self, job: Job) -> None:
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


def _started(job: Job, folder: Path, log: int) -> subprocess.Popen[bytes]:
    """The process of a job. Python must not look for modules in the workspace, which is data."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    settings = {
        "CLAIMLAB_PROGRESS": str(job.progress_file),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONPATH": os.pathsep.join(str(Path(one).absolute()) for one in paths if one),
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
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    threading.Thread(target=end, daemon=True).start()


class JobPage(Shape):
    """A job: its command, how far it is, and what it printed."""

    id: str
    title: str
    command: str
    state: State
    stage: str
    done: int | None
    total: int | None
    left: str
    seconds: float
    problem: str | None
    """Why it failed, in a sentence."""
    location: str | None
    """The page of the result, where it has one."""
    files: dict[str, str]
    """What an export wrote, with links that download it."""
    notes: dict[str, str]
    """The same for what claimlab notes beside it: what was exported, and how."""
    printed: str


class JobsPage(Shape):
    jobs: list[JobPage]


def jobs_of(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


Queue = Annotated[Jobs, Depends(jobs_of)]


@page("/jobs", "jobs.html.jinja")
def jobs_page(jobs: Queue, workspace: Here) -> JobsPage:
    """Jobs that pages have started."""
    return JobsPage(jobs=[_page(workspace, job) for job in jobs.all()])


@page("/jobs/{job}", "job.html.jinja")
def job_page(job: str, jobs: Queue, workspace: Here) -> JobPage:
    """A job, and how far it is."""
    return _page(workspace, jobs.get(job))


@routes.post("/api/jobs/{job}/cancel", tags=["Jobs"])
def cancel(job: str, jobs: Queue) -> Done:
    """Stop a job. Nothing is left half-written."""
    jobs.cancel(job)
    return Done(location=f"/jobs/{job}")


def _page(workspace: Workspace, job: Job) -> JobPage:
    printed = job.printed()
    progress = job.progress() if job.state == "running" else {}
    links = {name: f"/jobs/{job.id}/files/{quote(name)}" for name in _exported(workspace, job)}
    return JobPage(
        id=job.id,
        title=f"{job.words[0]} {job.output}",
        command=job.command,
        state=job.state,
        stage=str(progress.get("stage") or ("starting" if job.state == "running" else "")),
        done=progress.get("done"),
        total=progress.get("total"),
        left=str(progress.get("left") or ""),
        seconds=round(job.seconds, 1),
        problem=_problem(printed) if job.state == "failed" else None,
        location=result_link(workspace, job.output) if job.state == "done" else None,
        files={name: link for name, link in links.items() if name not in NOTES},
        notes={name: link for name, link in links.items() if name in NOTES},
        printed=printed,
    )


@routes.get("/jobs/{job}/files/{file:path}", include_in_schema=False)
def exported_file(job: str, file: str, jobs: Queue, workspace: Here) -> FileResponse:
    path = _exported(workspace, jobs.get(job)).get(file)
    if path is None:
        raise NotFound(f"Job {job[:100]} has no file '{file[:200]}'.", "Choose one from its page.")
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def _exported(workspace: Workspace, job: Job) -> dict[str, Path]:
    """The files of an export by name, but for those that a link leads to. What a job is said to
    have written may come with a workspace from elsewhere."""
    if job.words[0] != "export" or job.state != "done" or not NAME.fullmatch(job.output):
        return {}
    folder, main = workspace.folder.resolve() / job.output, Path(RECORDS).stem
    paths = sorted(folder.rglob("*"), key=lambda at: (at.name in NOTES, at.stem != main, at))
    files = islice((path for path in paths if path.is_file()), MOST_FILES)
    return {path.relative_to(folder).as_posix(): path for path in files if path.resolve() == path}


def _problem(printed: str) -> str:
    """The sentence that the command ended with."""
    lines = [line for line in printed.splitlines() if line.strip()]
    errors = [at for at, line in enumerate(lines) if line.startswith("Error: ")]
    if not errors:
        return "The command ended without a result. What it printed is below."
    return lines[errors[-1]].removeprefix("Error: ")


def result_link(workspace: Workspace, output: str) -> str | None:
    """The page of what a job wrote; of a check, the dataset that it has audited."""
    workspace.refresh()
    id = output.replace("/", "~")
    inside = {
        key: place for key, place in workspace.places().items() if f"{key}~".startswith(f"{id}~")
    }
    if id in inside:
        return inside[id].entry.link
    likely = [*_audited(workspace, inside.values()), *inside.values()]
    return next((place.entry.link for place in likely), None)


def _audited(workspace: Workspace, places: Iterable[Place]) -> Iterator[Place]:
    """The datasets that the audits among `places` are about."""
    for audit in [one for at in places if at.entry.kind == "audit" for one in audits_in(at)]:
        place = workspace.with_digest(audit.digest)
        if place is not None:
            yield place
