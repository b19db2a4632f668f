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
from typing import Annotated, Any, TypedDict, Unpack

from claimlab.core.call import in_storage, repeatable
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.labels import Unmapped, check_unmapped, general, load_map
from claimlab.core.options import (
    Argument,
    Engine,
    Force,
    Limit,
    Option,
    Place,
    Seed,
    Setting,
)
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

    text: Annotated[
        str | None, Option("Column of the text: its name, its number from 1, or 'none'.")
    ]
    label: Annotated[str | None, Option("Column of the label.")]
    id: Annotated[str | None, Setting("Column of the record id.")]
    tweet_id: Annotated[str | None, Setting("Column of the tweet id.")]
    date: Annotated[str | None, Option("Column of the date.")]
    language: Annotated[
        str | None, Option("Column of the language, or one code for all, such as pt.")
    ]
    url: Annotated[str | None, Setting("Column of the link.")]
    author: Annotated[str | None, Setting("Column of the author or speaker.")]
    source: Annotated[str | None, Setting("Column of the publisher, site or account.")]
    topic: Annotated[str | None, Setting("Column of the topic.")]
    group: Annotated[
        str | None, Setting("Column of the event, pair or cluster that must not be split.")
    ]
    split: Annotated[str | None, Setting("Column of the published split.")]


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
    paths: Annotated[
        Paths,
        Argument(
            "CSV, TSV, JSON, JSONL, Parquet, XLSX; a folder or zip of them, or of .txt files."
        ),
    ],
    output: Annotated[Place | None, Option("Folder to write the dataset to.", short="-o")] = None,
    *,
    kind: Annotated[str | None, Option("What the texts are: claim, article or post.")] = None,
    name: Annotated[str | None, Option("Name of the dataset; the first file's by default.")] = None,
    labels: Annotated[
        Place | None,
        Option("Verdict map: 0=true,1=false, a TOML file, or a name.", flag="--map", kind=str),
    ] = None,
    unmapped: Annotated[
        Unmapped, Option("Labels that the map lacks: 'error', or accept as 'unknown'.")
    ] = "error",
    write_map: Annotated[
        Place | None, Option("Write the labels to this TOML file, to be edited for `labels`.")
    ] = None,
    day_first: Annotated[bool | None, Setting("How to read 03/04/2020: true for 3 April.")] = None,
    keep_placeholder_dates: Annotated[
        bool, Setting("Keep 1970-01-01, 1900-01-01 and a date that most rows have.")
    ] = False,
    options: Options | Mapping[str, Any] = Options(),  # noqa: B008 - frozen
    only: Annotated[
        str | Sequence[str], Option("Of a folder or zip, only files like '*.tsv'. Repeatable.")
    ] = (),
    join: Annotated[
        str | Sequence[str], Setting("Join a linked table: FILE:KEY. Repeatable.")
    ] = (),
    limit: Limit = None,
    seed: Seed = 0,
    force: Force = False,
    engine: Engine = None,
    on_plan: OnPlan = ignore,
    progress: Progress = silent,
    **columns: Unpack[Columns],
) -> tuple[Dataset, ImportReport]:
    """Import files of any layout into a dataset folder. Layout and columns are guessed, and the
    guess is shown.

    `options` are encoding, delimiter, quotes, header and sheet, where given: {"delimiter": "tab"}.
    A linked table is named as FILE:KEY or FILE:KEY=ITS_KEY; each row gets its columns. Whether days
    come first is found out from the column, and dates are null where it does not tell. The seed is
    for the sample of texts whose language is measured where there are too many to identify them
    all. `on_plan` is called with the plan before it is used.

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
