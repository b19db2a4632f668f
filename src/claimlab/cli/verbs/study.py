"""`claimlab study`: a grid of datasets, splits, detectors and seeds from one file, with its
tables.
"""

from __future__ import annotations

from pathlib import Path

import typer

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, emit, show_blocks, suggest, wants_json
from claimlab.core.words import several
from claimlab.pages.blocks import Table
from claimlab.study.check import study_check
from claimlab.study.grid_tables import tables_of
from claimlab.study.new import presets, study_new
from claimlab.study.page import failures, reasons
from claimlab.study.plan import GridCell
from claimlab.study.received import sends
from claimlab.study.run import Grid, chosen
from claimlab.study.saved import more_tables, saved_study, study_table

app = verb()


@app.of(study_new, lists={"presets": presets})
def new(call: Call[Path]) -> None:
    call()
    file = call["file"]
    if wants_json():
        emit({"study": str(file), "preset": call["preset"]})
        return
    echo(f"Wrote {file}.")
    suggest(f"claimlab study check {file}")


@app.of(study_check)
def check(call: Call[tuple[list[GridCell], list[str], list[str]]]) -> None:
    """List everything that is missing, before anything is spent; exit 1 where something is."""
    study = call["study"]
    cells, problems, limits = call()
    sent = sends(study)
    if wants_json():
        emit({"cells": len(cells), "problems": problems, "sends": sent, "limits": limits})
    else:
        for sentence in [*sent, *problems, *limits]:
            echo(f"- {sentence}")
        ready = f"{study} is ready: {several(len(cells), 'cell')}."
        echo(f"{several(len(problems), 'problem')} in {study}." if problems else ready)
    if problems:
        raise typer.Exit(1)
    suggest(f"claimlab study run {study} -o DIR")


@app.of(cl.study_run, page="output")
def run(call: Call[Grid]) -> None:
    """Run the grid, each step once, and write its tables. The same command goes on where it was
    stopped; exit 1 where a cell has no result."""
    grid = call(only=chosen(call["only"]))
    lines = failures(grid, grid.entries)
    if wants_json():
        failed = len(grid.cells) - len(grid.done)
        counts = {"cells": len(grid.cells), "failed": failed}
        emit({"output": str(call.output), **counts, "failures": lines})
    else:
        more = more_tables(grid.study, grid.entries, [table for _, table in grid.tables])
        show_blocks([*tables_of(grid.study, grid.entries), *more, *reasons(lines)])
        echo(f"Wrote {call.output}: {grid.headline()}")
    call.show_page("report")
    if grid.broken:
        raise typer.Exit(1)
    suggest(f"claimlab study table {call.output} --rows detector --columns split")


@app.of(study_table)
def table(call: Call[list[Table]]) -> None:
    _, scored, content = saved_study(call["folder"])
    lines = content.get("failures", [])
    if wants_json():
        emit({"entries": [entry.to_json() for entry in scored], "failures": lines})
        return
    show_blocks([*call(), *reasons(lines)])
