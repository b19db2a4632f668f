"""`claimlab import`: bring any file, get a clean traceable dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from claimlab.cli import options as o
from claimlab.cli.flags import in_flags
from claimlab.cli.following import following
from claimlab.cli.output import emit, progress_bar, say, suggest, verb, written
from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject

if TYPE_CHECKING:
    from claimlab.exchange.importing.plan import Plan
    from claimlab.files.raw import Options

app = verb()

Column = str | None
Files = Annotated[
    list[Path],
    Argument(
        help="CSV, TSV, JSON, JSONL, Parquet, XLSX; a folder or zip of them, or of .txt files."
    ),
]
WriteMap = Annotated[
    Path | None, Option(help="Write the labels to this TOML file, to be edited for --map.")
]
KeepPlaceholders = Annotated[
    bool, Option(help="Keep 1970-01-01, 1900-01-01 and a date that most rows have.")
]


@app.command("import")
def import_(
    files: Files,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Folder to write the dataset to.")
    ] = None,
    text: Annotated[
        Column, Option(help="Column of the text: its name, its number from 1, or 'none'.")
    ] = None,
    label: Annotated[Column, Option(help="Column of the label.")] = None,
    labels: Annotated[
        Column, Option("--map", help="Verdict map: 0=true,1=false, a TOML file, or a name.")
    ] = None,
    unmapped: Annotated[
        str, Option(help="Labels that the map lacks: 'error', or accept as 'unknown'.")
    ] = "error",
    write_map: WriteMap = None,
    date: Annotated[Column, Option(help="Column of the date.")] = None,
    day_first: Annotated[
        bool | None, Option("--day-first/--month-first", help="How to read 03/04/2020.")
    ] = None,
    keep_placeholder_dates: KeepPlaceholders = False,
    url: Annotated[Column, Option(help="Column of the link.")] = None,
    id: Annotated[Column, Option("--id", help="Column of the record id.")] = None,
    tweet_id: Annotated[Column, Option(help="Column of the tweet id.")] = None,
    language: Annotated[
        Column, Option(help="Column of the language, or one code for all, such as pt.")
    ] = None,
    source: Annotated[Column, Option(help="Column of the publisher, site or account.")] = None,
    author: Annotated[Column, Option(help="Column of the author or speaker.")] = None,
    topic: Annotated[Column, Option(help="Column of the topic.")] = None,
    group: Annotated[
        Column, Option(help="Column of the event, pair or cluster that must not be split.")
    ] = None,
    split: Annotated[Column, Option(help="Column of the published split.")] = None,
    kind: Annotated[Column, Option(help="What the texts are: claim, article or post.")] = None,
    name: Annotated[
        Column, Option(help="Name of the dataset; the first file's by default.")
    ] = None,
    encoding: Annotated[Column, Option(help="Encoding of the files, such as cp1252.")] = None,
    delimiter: Annotated[
        Column, Option(help="Delimiter of the files: one character, or tab.")
    ] = None,
    quotes: Annotated[
        str, Option(help="Quotes: auto, double, escape (by backslash), none (they are text).")
    ] = "auto",
    header: Annotated[
        bool | None, Option("--header/--no-header", help="Whether row one names the columns.")
    ] = None,
    sheet: Annotated[
        Column, Option(help="Sheet of a workbook; by default the longest, and those like it.")
    ] = None,
    only: Annotated[
        list[str] | None, Option(help="Of a folder or zip, only files like '*.tsv'. Repeatable.")
    ] = None,
    join: Annotated[
        list[str] | None, Option(help="Join a linked table: FILE:KEY. Repeatable.")
    ] = None,
    limit: o.LimitOption = None,
    seed: o.SeedOption = 0,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show the guess and stop; nothing is written.")
    ] = False,
    force: o.ForceFlag = False,
    engine: o.EngineOption = None,
    as_json: o.JsonFlag = False,
) -> None:
    """Import files of any layout into a dataset folder. Layout and columns are guessed, and the
    guess is shown.
    """
    from claimlab.core.labels import check_unmapped
    from claimlab.exchange.importer import import_files

    layout = {
        "encoding": encoding,
        "delimiter": delimiter,
        "quotes": quotes,
        "header": header,
        "sheet": sheet,
    }
    named: JsonObject = {
        "text": text,
        "label": label,
        "id": id,
        "tweet_id": tweet_id,
        "date": date,
        "language": language,
        "url": url,
        "author": author,
        "source": source,
        "topic": topic,
        "group": group,
        "split": split,
        "kind": kind,
        "labels": labels,
        "options": _layout(layout),
        "only": only or (),
        "join": join or (),
    }
    if dry_run:
        _show_guess(files, named, as_json)
        return
    if output is None:
        raise UsageError(
            "No output folder was given.", "Add -o DIR, or --dry-run to see the guess only."
        )
    with progress_bar(not as_json) as progress:
        dataset, report = import_files(
            files,
            output,
            name=name,
            unmapped=check_unmapped(unmapped),
            day_first=day_first,
            write_map=write_map,
            keep_placeholder_dates=keep_placeholder_dates,
            limit=limit,
            seed=seed,
            force=force,
            on_plan=show,
            engine=engine,
            progress=progress,
            **named,
        )
    _say(report.lines())
    written(dataset, as_json=as_json, more={"notes": dataset.notes, "report": report.to_json()})
    suggest(following(dataset, output, "claimlab audit {} -o REPORT", copies=True), as_json=as_json)


def _layout(words: JsonObject) -> Options:
    from claimlab.files.raw import Options

    return Options.of(words)


def _show_guess(files: list[Path], named: JsonObject, as_json: bool) -> None:
    from claimlab.exchange.importer import guess_files

    with progress_bar(not as_json) as progress:
        plan = guess_files(files, progress=progress, **named)
    show(plan)
    if as_json:
        emit({"guess": plan.to_json()})


def show(plan: Plan) -> None:
    """The guess as a small table on stderr."""
    _say(plan.lines())


def _say(lines: list[str]) -> None:

    for line in lines:
        say(in_flags(line, "import"))
