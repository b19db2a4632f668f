"""Bring any file: from tables of any layout to a clean, traceable dataset, in three steps.

    dataset, report = import_files(["claims.csv"], "claims", text="claim", label="rating")

Read (`exchange.read`: files to one table), guess (`exchange.guess`: a plan for its columns), make
(`exchange.make`: the records and a report on them). What is not given is guessed; `on_plan` sees
the plan before it is used. Texts and labels are kept as they are written, and what the file holds
besides goes to `meta`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

from claimlab.core.call import in_storage, repeatable
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.labels import Unmapped, check_unmapped, general, load_map
from claimlab.core.plain import slug
from claimlab.core.progress import Progress, silent
from claimlab.core.record import KINDS
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.exchange.back import come_back
from claimlab.exchange.exported import inherit, marker_of, record_files, tidy
from claimlab.exchange.guess.guess import guess
from claimlab.exchange.guess.plan import Plan
from claimlab.exchange.make.findings import languages_of, look_at
from claimlab.exchange.make.labels import write_map as write_label_map
from claimlab.exchange.make.records import Making
from claimlab.exchange.make.report import ImportReport
from claimlab.exchange.marker import Marker
from claimlab.exchange.read.gather import gather
from claimlab.files.hub import name_in
from claimlab.files.packed import plain_name
from claimlab.files.raw import Options
from claimlab.text.langid import identify

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
    paths = _as_list(paths)
    if kind is not None and kind not in KINDS[:3]:
        raise UsageError(f"`kind` cannot be '{kind}'.", f"Use one of: {', '.join(KINDS[:3])}.")
    verdicts = load_map(labels) if labels is not None else general()
    marker = marker_of(paths)
    only = [only] if isinstance(only, str) else only
    only = record_files(marker) if marker is not None and not only else only
    join = [join] if isinstance(join, str) else join
    gathered = gather(paths, Options.of(options), chosen=only, join=join, progress=progress)
    if marker is not None:
        gathered.frame = tidy(gathered.frame)
    named = {role: str(name) for role, name in columns.items() if name is not None}
    return guess(gathered, named, verdicts, kind)


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
    paths, name = _as_list(paths), _slug(name) if name else None
    with Run(
        "import", None, output, reads=[Path(path) for path in paths], force=force, engine=engine
    ) as run:
        if back := _back(
            paths, limit, kind, name, labels, write_map, day_first, only, join, *columns.values()
        ):
            return run.finish(back[0]), back[1]
        plan = guess_files(
            paths,
            kind=kind,
            labels=labels,
            options=options,
            only=only,
            join=join,
            progress=progress,
            **columns,
        )
        on_plan(plan)
        progress("making records", 0, None)
        making = Making(
            plan, name or _own_name(paths), unmapped, day_first, limit, keep_placeholder_dates
        )
        _write_map(write_map, making, force)
        return run.finish(_dataset(plan, making, marker_of(paths), seed, progress)), making.report


def _back(
    paths: list[str | Path], limit: int | None, *choices: object
) -> tuple[Dataset, ImportReport] | None:
    """What claimlab itself exported, where no choice says to read it as any other files."""
    return None if any(choices) else come_back(paths, limit)


def _write_map(file: str | Path | None, making: Making, force: bool) -> None:
    if file is not None and (labels := making.labels()) is not None:
        write_label_map(Path(file), labels, making.plan.verdicts, force=force)


def _dataset(
    plan: Plan, making: Making, marker: Marker | None, seed: int, progress: Progress
) -> Dataset:
    dataset = Dataset.build(making.name, making.records())
    report = making.report
    look_at(dataset.records, report, making.dates, plan.column("date"))
    report.languages, languages = languages_of(
        dataset.records, partial(identify, progress=progress), seed
    )
    dataset.records = dataset.records.with_columns(languages.alias("language"))
    dataset.notes = report.warnings()
    dataset.lineage = [_lineage(plan, making, seed)]
    if marker is not None:
        inherit(dataset, marker)
    return dataset


def _as_list(paths: Paths) -> list[str | Path]:
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    if not files:
        raise UsageError("No file was given.", "Give at least one file, folder or zip.")
    return files


def _own_name(paths: Sequence[str | Path]) -> str:
    marker, path = marker_of(paths), paths[0]
    if marker is not None:
        return marker.dataset.name
    if Path(path).is_file():
        return _slug(Path(plain_name(Path(path).name)).stem)
    return _slug(name_in(Path(path)) or Path(path).absolute().name)


def _slug(words: str) -> str:
    """A name that is safe in ids, paths and commands: lower case, digits and hyphens, as in the
    catalogue.
    """
    return slug(words, longest=200) or "imported"


def _lineage(plan: Plan, making: Making, seed: int) -> Lineage:
    layouts: list[JsonObject] = []
    for table in plan.gathered.tables:
        parameters = table.layout.parameters()
        if parameters not in layouts:
            layouts.append(parameters)
    picks = plan.picks
    return Lineage(
        step="import",
        parameters={
            "columns": {
                role: pick.column for role, pick in sorted(picks.items()) if pick.column is not None
            },
            "constants": {
                role: pick.value for role, pick in sorted(picks.items()) if pick.value is not None
            },
            "kind": plan.kind,
            "layouts": layouts,
            "map": f"{plan.verdicts.name}@{plan.verdicts.version}" if "label" in picks else None,
            "unmapped": making.unmapped,
            "day_first": making.day_first,
            "limit": making.limit,
            "keep_placeholder_dates": making.keep_dates,
        },
        seed=seed,
        inputs=plan.gathered.inputs,
        counts=making.report.counts(),
    )
