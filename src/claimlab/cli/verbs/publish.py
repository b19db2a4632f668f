"""`claimlab publish`: bundles to verify, and what is made of them for others to read."""

from __future__ import annotations

from typing import Annotated

import typer

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, emit, show_blocks, suggest, wants_json
from claimlab.core.options import Option
from claimlab.core.words import several
from claimlab.evaluate.tables import leaderboard
from claimlab.evaluate.views import boards
from claimlab.pages.blocks import Section, Text
from claimlab.publish.board import Ranked, new_board
from claimlab.publish.bundle import Bundle, Verified
from claimlab.publish.site import Site

app = verb(help="Publish results: bundles that anyone can verify, boards and a site.")
SHOWN = 20  # differences; --json has all


@app.of(cl.publish_bundle)
def bundle(call: Call[Bundle]) -> None:
    packed, file = call(), call.output
    if wants_json():
        emit({"output": str(file), "id": packed.id, "statement": packed.statement})
        return
    records = sum(len(one.id) for one in packed.records.values())
    echo(f"Wrote {file}: {several(len(packed.runs), 'run')} on {several(records, 'record')}.")
    echo(f"Id: {packed.id}")
    suggest(f"claimlab publish verify {file}")


@app.of(cl.publish_verify)
def verify(call: Call[Verified]) -> None:
    result = call()
    if wants_json():
        emit(result.to_json())
    else:
        echo(f"{result.headline()}.")
        for difference in result.differences[:SHOWN]:
            echo(f"- {difference}")
        if len(result.differences) > SHOWN:
            echo(f"- {len(result.differences) - SHOWN:,} more with --json")
    if result.differences:
        raise typer.Exit(1)
    suggest("claimlab publish board FOLDER -o PAGE")


@app.of(cl.publish_board, page="output")
def board(
    call: Call[Ranked],
    init: Annotated[
        bool, Option("Write the layout of a repository that collects bundles, and exit.")
    ] = False,
) -> None:
    folder = call["folder"]
    if init:
        files = new_board(folder)
        if wants_json():
            emit({"output": str(folder), "files": files})
            return
        echo(f"Wrote {folder}: {', '.join(files)}.")
        suggest(f"claimlab publish bundle RUN -o {folder}/results/NAME.json")
        return
    ranked = call()
    if wants_json():
        emit({"output": call["output"], **ranked.to_json()})
    else:
        _print(ranked)
    call.show_page()
    suggest("claimlab publish site AUDIT... -o public")


@app.of(cl.publish_site, page="output")
def site(call: Call[Site]) -> None:
    pages = call()
    if wants_json():
        emit({"output": str(call.output), **pages.to_json()})
    else:
        echo(f"Wrote {call.output}: {pages.headline()}.")
    call.show_page()


def _print(ranked: Ranked) -> None:
    shown = []
    for runs, standing in boards(ranked.evaluation):
        words = [] if standing is None else [Text(standing.headline()), Text(standing.limits())]
        table = leaderboard(runs, {}, standing)
        shown.append(Section(f"{runs[0].task} on {runs[0].dataset}", [table, *words]))
    show_blocks(shown)
    for file, why in ranked.refused.items():
        echo(f"Refused: {file}: {why}.")
