"""`claimlab study`: a grid of datasets, splits, detectors and seeds from one file, with its
tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    emit,
    listing,
    page,
    progress_bar,
    show_blocks,
    suggest,
    verb,
    wants_json,
)
from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject
from claimlab.core.words import several

app = verb()

StudyArgument = Annotated[
    Path, typer.Argument(help="The study file (TOML); start one with: claimlab study new")
]


def _show_presets() -> None:
    from claimlab.study.new import presets

    listing("presets", presets(), verb="study new FILE --preset")


PresetsOption = Annotated[bool, o.listing_option("--presets", "the presets", _show_presets)]
FolderArgument = Annotated[Path, typer.Argument(help="The folder that `claimlab study run` wrote.")]


@app.command()
def new(
    file: Annotated[Path | None, typer.Argument(help="The file to write.")] = None,
    preset: Annotated[str | None, typer.Option(help="What to start from; see --presets.")] = None,
    run: Annotated[
        Path | None, typer.Option("--from", help="A run folder: the study that makes it again.")
    ] = None,
    _list: PresetsOption = False,
) -> None:
    """Write a commented study file to edit."""
    from claimlab.study.new import study_new

    if file is None:
        raise UsageError("No file was named.", "Name the file to write, such as study.toml.")
    study_new(file, preset, run=run)
    if wants_json():
        emit({"study": str(file), "preset": preset, "from": None if run is None else str(run)})
        return
    echo(f"Wrote {file}.")
    suggest(f"claimlab study check {file}")


@app.command()
def check(study: StudyArgument) -> None:
    """List everything that is missing, before anything is spent; exit 1 where something is."""
    from claimlab.study.check import study_check
    from claimlab.study.needs import sends

    with progress_bar() as progress:
        cells, problems = study_check(study, progress=progress)
    sent = sends(study)
    if wants_json():
        emit({"cells": len(cells), "problems": problems, "sends": sent})
    else:
        for sentence in sent:
            echo(f"- {sentence}")
        for problem in problems:
            echo(f"- {problem}")
        done = f"{study} is ready: {several(len(cells), 'cell')}."
        echo(f"{several(len(problems), 'problem')} in {study}." if problems else done)
    if problems:
        raise typer.Exit(1)
    suggest(f"claimlab study run {study} -o DIR")


@app.command()
def run(
    study: StudyArgument,
    output: o.OutputOption,
    only: Annotated[
        list[str] | None, typer.Option(metavar="AXIS=VALUE", help="Only these cells; repeatable.")
    ] = None,
    estimate: o.EstimateFlag = False,
    mode: o.ModeOption = "record",
    caps: o.Caps = o.CAPS,
    engine: o.EngineOption = None,
    open_page: o.OpenFlag = False,
) -> None:
    """Run the grid, each step once, and write its tables. The same command goes on where it was
    stopped; exit 1 where a cell has no result."""
    from claimlab.study.run import chosen

    options: JsonObject = {"only": chosen(only or ()), "mode": mode}
    if estimate:
        from claimlab.cli.output import show_estimate
        from claimlab.study.front import study_estimate

        with progress_bar() as progress:
            priced = study_estimate(study, output, **options, progress=progress)
        show_estimate(priced)
        return
    from claimlab.study.front import study_run
    from claimlab.study.page import failures, more_tables, reasons, tables_of

    with progress_bar() as progress:
        grid = study_run(study, output, **options, **vars(caps), engine=engine, progress=progress)
    failed = len(grid.cells) - len(grid.done)
    lines = failures(grid, grid.entries)
    if wants_json():
        emit({"output": str(output), "cells": len(grid.cells), "failed": failed, "failures": lines})
    else:
        more = more_tables(grid.study, grid.entries, [table for _, table in grid.tables])
        show_blocks([*tables_of(grid.study, grid.entries), *more, *reasons(lines)])
        echo(f"Wrote {output}: {grid.headline()}")
    page(output / "report" / "index.html", open_page=open_page)
    if grid.broken:
        raise typer.Exit(1)
    suggest(f"claimlab study table {output} --rows detector --columns split")


@app.command()
def table(
    folder: FolderArgument,
    rows: Annotated[str | None, typer.Option(help="The axis down the side.")] = None,
    columns: Annotated[str | None, typer.Option(help="The axis across the top.")] = None,
    cells: Annotated[
        str | None, typer.Option(help="macro_f1, accuracy, difference or records.")
    ] = None,
) -> None:
    """Print the results over any two axes of the grid."""
    from claimlab.study.page import reasons, saved_study, study_failures, study_table

    lines = study_failures(folder)
    if wants_json():
        emit({"entries": [entry.to_json() for entry in saved_study(folder)[1]], "failures": lines})
        return
    show_blocks([*study_table(folder, rows=rows, columns=columns, cells=cells), *reasons(lines)])
