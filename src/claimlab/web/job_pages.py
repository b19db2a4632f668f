"""The pages of jobs: what runs, what it said, and what it made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from fastapi.responses import FileResponse

from claimlab.core.call import CALL_FILE
from claimlab.core.dataset import RECORDS
from claimlab.core.errors import NotFound
from claimlab.exchange.format import MARKER
from claimlab.web.jobs import CommandJob, Queue, State
from claimlab.web.page import Done, Here, page, routes
from claimlab.web.workspace import NAME, Shape, Workspace, WorkspaceFolder, audits_in

MOST_FILES = 200  # of an export that are listed
NOTES = (CALL_FILE, MARKER)  # among them


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


def _page(workspace: Workspace, job: CommandJob) -> JobPage:
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


def _exported(workspace: Workspace, job: CommandJob) -> dict[str, Path]:
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


def _audited(workspace: Workspace, places: Iterable[WorkspaceFolder]) -> Iterator[WorkspaceFolder]:
    """The datasets that the audits among `places` are about."""
    for audit in [
        saved_audit for at in places if at.entry.kind == "audit" for saved_audit in audits_in(at)
    ]:
        place = workspace.with_digest(audit.digest)
        if place is not None:
            yield place
