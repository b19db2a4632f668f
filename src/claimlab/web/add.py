"""*Add data*: drop a file or name one of the workspace, see what its columns and labels would
become, change it, and start a check of it (import, clean, audit) as a job.

What the columns are is decided by the import (`exchange/look`): this page shows it, and passes on
what was chosen. The server reads files that were dropped and files that a walk below the workspace
came by, and no others.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast
from urllib.parse import urlencode

from fastapi import Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from claimlab.core.dataset import MANIFEST
from claimlab.core.digest import digest_file
from claimlab.core.errors import (
    ClaimlabError,
    DataError,
    NotFound,
    Question,
    UnmappedLabels,
    UsageError,
)
from claimlab.core.guard import kind_of
from claimlab.core.options import parameters_of
from claimlab.core.record import VERACITIES
from claimlab.exchange.importer import ImportColumns, import_files
from claimlab.files.archives import SUFFIXES, plain_name
from claimlab.files.kinds import TABLE_SUFFIXES
from claimlab.files.sqlite import SUFFIXES as DATABASES
from claimlab.pages.blocks import excerpt
from claimlab.web.command import Value, shell, words_of
from claimlab.web.filters import Values
from claimlab.web.gate import FILES
from claimlab.web.jobs import Queue
from claimlab.web.memo import Memo, state_of
from claimlab.web.page import Done, Here, page, routes
from claimlab.web.workspace import (
    MOST_FOLDERS,
    Line,
    Shape,
    Word,
    Workspace,
    files_in,
    folders_below,
)

if TYPE_CHECKING:
    from claimlab.exchange.look import ColumnRole, LabelMeaning, Look

DROPPED = "dropped"  # the folder for files that came through the browser
DROPPED_BYTES = 20 << 30  # of all files that were dropped
READABLE = (*TABLE_SUFFIXES, *DATABASES, ".txt", ".zip", *SUFFIXES)
MOST_FILES, MOST_OFFERED, MOST_LABELS = 20, 300, 60
_UNSAFE = re.compile(r"[^\w.()-]+")
AS_LOOKED_AT = ("files", "rows", "kind", "columns", "meta", "understood")
_looks = Memo(16)


class ImportChoices(Shape):
    """Which files, and what was chosen for them: ROLE=COLUMN and LABEL=VERACITY."""

    file: Annotated[Values, Field(max_length=MOST_FILES)] = []
    only: Values = []
    column: Values = []
    map: Annotated[list[Line], Field(max_length=1_000)] = []
    name: Word = ""
    """The new folder."""

    def columns(self) -> ImportColumns:
        pairs = (entry.partition("=") for entry in self.column)
        chosen = {role: column for role, _, column in pairs if column}
        unknown = set(chosen) - set(ImportColumns.__annotations__)
        if unknown:
            raise UsageError(f"There is no role '{min(unknown)[:40]}'.", "Choose one of the list.")
        return cast(ImportColumns, chosen)

    def link(self, argument: str, value: str | list[str]) -> str:
        """The page with one choice more; a choice of files is in place of the one before."""
        pairs = [
            (name, item)
            for name in ("file", "only", "column", "map")
            for item in getattr(self, name)
            if (name, argument) != ("only", "only")
        ]
        values = [value] if isinstance(value, str) else value
        if argument == "map":
            values = [pair for joined in values for pair in joined.split(",")]
        elif argument != "only":
            argument, values = "column", [f"{argument}={item}" for item in values]
        return f"/add?{urlencode([*pairs, *((argument, item) for item in values)])}"

    def answer(self) -> Mapping[str, str] | str | None:
        """What the labels mean: the task that they are about, or a verdict for some of them."""
        task = next((entry for entry in self.map if "=" not in entry), None)
        return task or self.meanings() or None

    def meanings(self) -> dict[str, str]:
        pairs = (entry.rpartition("=") for entry in self.map)
        return {value: verdict for value, _, verdict in pairs if verdict in VERACITIES}


class RoleRow(Shape):
    """A role: the column that it would get, and what speaks for it."""

    role: str
    sentence: str
    column: str | None
    chosen: str
    """What was chosen; empty: what is guessed."""
    why: str
    evidence: str
    runner_up: str | None
    examples: list[str]


class LabelRow(Shape):
    """A label as it is written, and its veracity."""

    value: str
    rows: int
    veracity: str | None
    chosen: str
    like: str | None


class ImportAnswer(Shape):
    """An answer to a question, and the page with that choice."""

    words: str
    link: str


class Doubt(Shape):
    problem: str
    todo: str
    answers: list[ImportAnswer]


class PreviewRow(Shape):
    text: str | None
    label: str | None
    veracity: str | None
    date: str | None
    language: str | None
    source: str | None


class Found(Shape):
    """What was found in the files."""

    files: str
    rows: int
    kind: str
    columns: list[str]
    roles: list[RoleRow]
    meta: list[str]
    labels: list[LabelRow]
    more_labels: int
    records: list[PreviewRow]
    understood: list[str]
    """What one record is, and what the label says, with an example of each value."""


class AddPage(Shape):
    choices: ImportChoices
    offered: list[str]
    """Files of the workspace that can be read."""
    limit: int
    """Bytes of a file that can be dropped."""
    found: Found | None
    doubt: Doubt | None
    name: str
    command: str
    veracities: list[str] = list(VERACITIES)


class Saved(Shape):
    path: str


@routes.post("/api/add", tags=["Add data"])
def start(choices: Annotated[ImportChoices, Query()], workspace: Here, jobs: Queue) -> Done:
    """Import, clean and audit the files, as a job."""
    _paths(workspace, choices)
    output = workspace.new_folder(choices.name, free=True)
    words = _words(choices, output.name)
    return Done(location=f"/jobs/{jobs.add(words, output.name).id}")


@routes.post(FILES, tags=["Add data"])
async def drop(
    name: Annotated[str, Query(max_length=500)], request: Request, workspace: Here
) -> Saved:
    """Save a file, sent as the body, in the folder of dropped files."""
    return Saved(path=await _save(workspace, name, request.stream()))


@page("/add", "add.html.jinja")
def add_page(
    choices: Annotated[ImportChoices, Query()], request: Request, workspace: Here
) -> AddPage:
    """What files would become, before they are imported."""
    contents, doubt = None, None
    if choices.file:
        try:
            look = _look(workspace, choices)
            contents = _found(look, choices)
            doubt = None if look.doubt is None else _doubt(look.doubt, choices)
        except NotFound:
            raise
        except ClaimlabError as error:
            doubt = _doubt(error, choices)
    stem = Path(plain_name(choices.file[0])).stem if choices.file else "data"
    name = choices.name or workspace.free_name(stem)
    return AddPage(
        choices=choices,
        offered=list(offered(workspace))[:MOST_OFFERED],
        limit=request.app.state.settings.max_file,
        found=contents,
        doubt=doubt,
        name=name,
        command=shell(_words(choices, name)) if choices.file else "",
    )


def offered(workspace: Workspace) -> dict[str, Path]:
    """The files below the workspace that an import may read, by their place. Links, hidden folders
    and what claimlab wrote are left out.
    """
    root = workspace.folder

    @cache
    def ours(folder: Path) -> bool:
        return folder != root and bool(kind_of(folder) or (folder / MANIFEST).exists())

    return {
        file.relative_to(root).as_posix(): file
        for folder in islice(folders_below(root, ours), MOST_FOLDERS)
        if not ours(folder)
        for file in files_in(folder, READABLE)
    }


def _paths(workspace: Workspace, choices: ImportChoices) -> list[Path]:
    """The files that were chosen, as the walk came by them."""
    files = offered(workspace)
    for name in choices.file:
        if name not in files:
            raise NotFound(
                f"The workspace has no file '{name[:200]}' that can be read.",
                "Drop the file, or choose one from the list.",
            )
    if not choices.file:
        raise UsageError("No file was chosen.", "Drop a file, or choose one from the list.")
    return [files[name] for name in choices.file]


def _look(workspace: Workspace, choices: ImportChoices) -> Look:
    from claimlab.exchange.look import look_at_files

    paths = _paths(workspace, choices)
    key = (tuple(map(state_of, paths)), choices.model_dump_json(exclude={"name"}))
    return _looks.get(
        key,
        lambda: look_at_files(paths, map=choices.answer(), only=choices.only, **choices.columns()),
    )


def _found(look: Look, choices: ImportChoices) -> Found:
    chosen = cast(Mapping[str, str], choices.columns())
    meanings = choices.meanings()
    return Found(
        **{
            name: getattr(look, name)
            for name in ("files", "rows", "kind", "columns", "meta", "understood")
        },
        roles=[_role_row(role, chosen.get(role.name, "")) for role in look.roles],
        labels=[_label_row(meaning, meanings) for meaning in look.meanings[:MOST_LABELS]],
        more_labels=max(0, len(look.meanings) - MOST_LABELS),
        records=[
            PreviewRow(
                **row
                | {
                    "text": excerpt(row["text"] or "", 300) or None,
                    "label": row["label_raw"],
                    "date": row["date"] and str(row["date"])[:10],
                }
            )
            for row in look.records.iter_rows(named=True)
        ],
    )


def _role_row(role: ColumnRole, chosen: str) -> RoleRow:
    option = parameters_of(import_files)[role.name].option
    return RoleRow(
        role=role.name,
        sentence="" if option is None else option.help,
        column=role.column or role.value,
        chosen=chosen,
        why=role.why,
        evidence=", ".join(name for name, _ in role.evidence),
        runner_up=role.runner_up,
        examples=list(role.examples),
    )


def _label_row(meaning: LabelMeaning, chosen: Mapping[str, str]) -> LabelRow:
    like = meaning.like
    return LabelRow(
        value=meaning.value,
        rows=meaning.rows,
        veracity=meaning.verdict,
        chosen=chosen.get(meaning.value, ""),
        like=f"like “{like[0]}”: {like[1]}" if like else None,
    )


def _doubt(error: ClaimlabError, choices: ImportChoices) -> Doubt:
    """What an import would stop at, and the answers where it asks a question."""
    todo, is_question = error.todo, isinstance(error, Question)
    if isinstance(error, UnmappedLabels):
        todo, is_question = "Say below what each of these labels means.", False
    answers = [
        ImportAnswer(
            words=f"{choice.value}: {choice.words}",
            link=choices.link(choice.argument, choice.value),
        )
        for choice in error.choices
        if is_question and choice.argument != "join"  # which the page has no field for
    ]
    return Doubt(
        problem=error.problem, todo="Choose one." if is_question else todo, answers=answers
    )


def _words(choices: ImportChoices, output: str) -> list[str]:
    """The command that does the same."""
    from claimlab.study.first_look import check

    options: dict[str, Value] = {"output": output, **cast(Mapping[str, str], choices.columns())}
    if choices.only:
        options["only"] = list(choices.only)
    meanings = choices.meanings()
    if any("," in value for value in meanings):
        raise DataError(
            "A label that contains a comma cannot be given a meaning here.",
            "Import the file on the command line with a plan, and edit that.",
        )
    if isinstance(task := choices.answer(), str):
        options["map"] = task
    elif meanings:
        options["map"] = ",".join(f"{value}={verdict}" for value, verdict in meanings.items())
    return words_of("check", check, choices.file, options)


async def _save(workspace: Workspace, name: str, pieces: AsyncIterator[bytes]) -> str:
    """A dropped file below the workspace, under a name that no other file has."""
    clean = _UNSAFE.sub("-", Path(name.replace("\\", "/")).name).strip(".-")[-120:]
    if not clean.lower().endswith(READABLE):
        raise UsageError(
            f"'{clean[:80]}' is not a kind of file that can be imported.",
            "Drop CSV, TSV, JSON, JSONL, XML, Parquet, XLSX, SQLite or text, or a zip of them.",
        )
    folder = workspace.folder / DROPPED
    if folder.is_symlink():
        raise DataError(f"The folder '{DROPPED}' is a link.", "Make it a folder of its own.")
    folder.mkdir(exist_ok=True)
    room = DROPPED_BYTES - sum(file.lstat().st_size for file in folder.iterdir())
    arriving = folder / f".{os.urandom(8).hex()}.arriving"
    try:
        with arriving.open("xb") as file:
            async for piece in pieces:
                if (room := room - len(piece)) < 0:
                    raise DataError(
                        f"The folder '{DROPPED}' may hold {DROPPED_BYTES >> 30} GB.",
                        "Remove files there that are not needed, or copy this one by hand.",
                    )
                file.write(piece)
        if not arriving.stat().st_size:
            raise DataError(f"'{clean[:80]}' is empty.", "Drop a file with rows in it.")
        target = await run_in_threadpool(_place, arriving, folder / clean)
    except ClientDisconnect:
        raise DataError(f"'{clean[:80]}' did not arrive whole.", "Drop it again.") from None
    finally:
        arriving.unlink(missing_ok=True)
    return target.relative_to(workspace.folder).as_posix()


def _place(arriving: Path, wanted: Path) -> Path:
    """Move a file to the name that it should have, or to one like it; the same file is kept
    once.
    """
    digest = digest_file(arriving)
    for number in range(1, 10_000):
        target = wanted if number == 1 else wanted.with_name(f"{number}-{wanted.name}")
        try:
            target.touch(exist_ok=False)  # never over a file that is there
        except FileExistsError:
            if not target.is_symlink() and target.is_file() and digest_file(target) == digest:
                return target
            continue
        return arriving.replace(target)
    raise DataError(f"There are too many files '{wanted.name}'.", "Give the file another name.")
