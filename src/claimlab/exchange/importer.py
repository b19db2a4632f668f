"""Bring any file: from tables of any layout to a clean, traceable dataset, in five steps.

    dataset, report = import_files(["claims.csv"], "claims", text="claim", label="rating")

Each step is a function with a module of its own in `exchange.importing`, and hands one value to
the next: `read` (files to one table), `profile` (what its columns look like), `propose` (what they
may be), `decide` (what they are, with the reason, or a question) and `make` (the dataset, and a
report on it). What is not given is guessed; `on_plan` sees the plan before it is used. Texts and
labels are kept as they are written, and what the file holds besides goes to `meta`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from claimlab.core.arguments import in_storage
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.labels import LabelMap, Unmapped, check_unmapped, general, load_map
from claimlab.core.plain import slug
from claimlab.core.progress import Progress, silent
from claimlab.core.record import KINDS
from claimlab.core.run import Run
from claimlab.exchange.format import Marker
from claimlab.exchange.importing.decide import decide
from claimlab.exchange.importing.layouts import settle
from claimlab.exchange.importing.make import Wishes, make
from claimlab.exchange.importing.make import write_map as write_label_map
from claimlab.exchange.importing.plan import Plan
from claimlab.exchange.importing.profile import profile
from claimlab.exchange.importing.propose import propose
from claimlab.exchange.importing.read import read
from claimlab.exchange.importing.report import ImportReport
from claimlab.exchange.roundtrip import come_back, exported, inherit, record_files, tidy
from claimlab.files.bundle import Bundle, name_in, open_all
from claimlab.files.raw import Options
from claimlab.files.safety import plain_name

Paths = str | Path | Sequence[str | Path]
OnPlan = Callable[[Plan], None]


class Columns(TypedDict, total=False):
    """The column of each role: its name, its number from 1, or "none" for none. A language may also
    be a code.
    """

    text: str | None
    label: str | None
    id: str | None
    tweet_id: str | None
    date: str | None
    language: str | None
    url: str | None
    author: str | None
    source: str | None
    topic: str | None
    group: str | None
    split: str | None


def ignore(plan: Plan) -> None:
    """The default for `on_plan`: does nothing."""


@in_storage()
def guess_files(
    paths: Paths,
    *,
    kind: str | None = None,
    labels: str | Path | None = None,
    options: Options | Mapping[str, Any] = Options(),  # noqa: B008 - frozen
    only: str | Sequence[str] = (),
    join: str | Sequence[str] = (),
    progress: Progress = silent,
    **columns: Unpack[Columns],
) -> Plan:
    """Read the files and say what they seem to be, without making anything of it. Options: see
    `import_files`.
    """
    answers = _Answers.of(kind, labels, options, only, join, columns)
    with open_all(_as_list(paths)) as bundles:
        return _plan(bundles, exported(bundles), answers, progress)


@repeatable("on_plan", writes="write_map")
def import_files(
    paths: Paths,
    output: str | Path | None = None,
    *,
    kind: str | None = None,
    name: str | None = None,
    labels: str | Path | None = None,
    unmapped: Unmapped = "error",
    write_map: str | Path | None = None,
    day_first: bool | None = None,
    keep_placeholder_dates: bool = False,
    options: Options | Mapping[str, Any] = Options(),  # noqa: B008 - frozen
    only: str | Sequence[str] = (),
    join: str | Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    force: bool = False,
    engine: str | None = None,
    on_plan: OnPlan = ignore,
    progress: Progress = silent,
    **columns: Unpack[Columns],
) -> tuple[Dataset, ImportReport]:
    """Import files of any layout as one dataset, and report on it.

    Args:
        paths: files, folders or zips of CSV, TSV, JSON, JSONL, Parquet, XLSX or, one record each,
            TXT.
        output: folder to write the dataset to; without it nothing is written.
        kind: claim, article or post; guessed from the texts by default.
        name: name of the dataset; the first file's by default.
        labels: verdict map, a TOML file or the name of one that is built in.
        unmapped: what to do with labels that the map lacks: "error", or accept them as "unknown".
        write_map: TOML file to write the labels to, each with the verdict that the map gives it, to
            be edited.
        day_first: how to read 03/04/2020; found out from the column by default, and null where it
            does not tell.
        keep_placeholder_dates: keep 1970-01-01, 1900-01-01 and a date that more than half of the
            rows have.
        options: encoding, delimiter, quotes, header and sheet, where given: {"delimiter": "tab"}.
        only: of a folder or zip, only files that match one of these globs.
        join: a linked table and its key, as FILE:KEY or FILE:KEY=ITS_KEY, whose columns each row
            gets.
        limit: import the first `limit` rows only.
        seed: for the sample of texts whose language is measured where there are too many to
            identify them all.
        force: replace a dataset in `output`.
        engine: who reads many files: "local:N", "dask", "dask://HOST:PORT" or "shared"; by default
            this process.
        on_plan: called with the plan before it is used.
        progress: called with what is being done, how much is done, and of how much.
        **columns: the column of each role that should not be guessed, such as text="claim" (see
        `Columns`).

    Raises DataError where files cannot be read, or raise a question: the message says which option
    answers it.
    """
    check_unmapped(unmapped)
    paths = _as_list(paths)
    choices = (kind, name, labels, write_map, day_first, only, join, *columns.values())
    with Run(
        "import", None, output, reads=[Path(path) for path in paths], force=force, engine=engine
    ) as run:
        answers = _Answers.of(kind, labels, options, only, join, columns)
        with open_all(paths) as bundles:
            marker = exported(bundles)
            whole = None if any(choices) else come_back(bundles, marker, limit)
            if whole is not None:
                return run.finish(whole[0]), whole[1]
            plan = _plan(bundles, marker, answers, progress)
        on_plan(plan)
        if write_map is not None:
            write_label_map(Path(write_map), plan, limit, force=force)
        wishes = Wishes(unmapped, day_first, keep_placeholder_dates, limit, seed)
        called = _slug(name) if name else _own_name(paths, marker)
        dataset, report = make(plan, called, wishes, progress)
        if marker is not None:
            inherit(dataset, marker)
        return run.finish(dataset), report


@dataclass(frozen=True)
class _Answers:
    """What the user said of the files: nothing of it is guessed."""

    kind: str | None
    verdicts: LabelMap
    layout: Options
    only: Sequence[str]
    join: Sequence[str]
    columns: Mapping[str, str]

    @classmethod
    def of(
        cls,
        kind: str | None,
        labels: str | Path | None,
        options: Options | Mapping[str, Any],
        only: str | Sequence[str],
        join: str | Sequence[str],
        columns: Columns,
    ) -> _Answers:
        if kind is not None and kind not in KINDS[:3]:
            raise UsageError(f"`kind` cannot be '{kind}'.", f"Use one of: {', '.join(KINDS[:3])}.")
        return cls(
            kind,
            load_map(labels) if labels is not None else general(),
            Options.of(options),
            [only] if isinstance(only, str) else only,
            [join] if isinstance(join, str) else join,
            {role: str(name) for role, name in columns.items() if name is not None},
        )


def _plan(
    bundles: Sequence[Bundle], marker: Marker | None, answers: _Answers, progress: Progress
) -> Plan:
    """The first four steps: from files to what each of their columns becomes."""
    only = answers.only or (() if marker is None else record_files(marker))
    table = read(bundles, answers.layout, chosen=only, join=answers.join, progress=progress)
    if marker is not None:
        tidy(table)
    table = settle(table, answers.columns, answers.verdicts)
    seen = profile(table.plain(), answers.verdicts, table.hidden(answers.columns))
    picks = propose(seen, answers.columns, table.inner)
    return decide(table, seen, picks, answers.columns, answers.kind)


def _as_list(paths: Paths) -> list[str | Path]:
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    if not files:
        raise UsageError("No file was given.", "Give at least one file, folder or zip.")
    return files


def _own_name(paths: Sequence[str | Path], marker: Marker | None) -> str:
    path = Path(paths[0])
    if marker is not None:
        return marker.dataset.name
    if path.is_file():
        return _slug(Path(plain_name(path.name)).stem)
    return _slug(name_in(path) or path.absolute().name)


def _slug(words: str) -> str:
    """A name that is safe in ids, paths and commands: lower case, digits and hyphens, as in the
    catalogue.
    """
    return slug(words, longest=200) or "imported"
