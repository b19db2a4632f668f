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
from claimlab.publish.bundle import ResultBundle
from claimlab.publish.site_content import Site
from claimlab.publish.task.init import SharedTask
from claimlab.publish.task.page import score_blocks
from claimlab.publish.task.scoring import TaskScores
from claimlab.publish.task.submission import Submission
from claimlab.publish.verify import Verified

app = verb(help="Publish results: bundles that anyone can verify, boards and a site.")
task = verb(help="Run a shared task whose gold is hidden: start it, check a submission, score all.")
app.add_typer(task, name="task")
DIFFERENCES_SHOWN = 20  # differences; --json has all


@app.of(cl.publish_bundle)
def bundle(call: Call[ResultBundle]) -> None:
    packed, file = call(), call.output
    if wants_json():
        emit({"output": str(file), "id": packed.id, "statement": packed.statement})
        return
    records = sum(len(record.id) for record in packed.records.values())
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
        for difference in result.differences[:DIFFERENCES_SHOWN]:
            echo(f"- {difference}")
        if len(result.differences) > DIFFERENCES_SHOWN:
            echo(f"- {len(result.differences) - DIFFERENCES_SHOWN:,} more with --json")
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


@task.of(cl.publish_task_init, "init")
def task_init(call: Call[SharedTask]) -> None:
    started = call()
    if wants_json():
        emit({"output": str(call.output), **started.to_json()})
        return
    echo(f"Wrote {call.output}: {started.headline()}.")
    for file, n in started.files.items():
        echo(f"  {file}: {several(n, 'record')}")
    echo("Send the folder public; keep the folder sealed to yourself.")
    suggest(f"claimlab publish task score {call.output} -o SCORES")


@task.of(cl.publish_task_check, "check")
def task_check(call: Call[Submission]) -> None:
    submission = call()
    if wants_json():
        emit(submission.to_json())
    else:
        echo(f"{submission.headline()}.")
        for line in (*submission.lines(), *submission.notes):
            echo(f"- {line}")
    if not submission.is_complete:
        raise typer.Exit(1)


@task.of(cl.publish_task_score, "score", page="output")
def task_score(call: Call[TaskScores]) -> None:
    scores = call()
    if wants_json():
        emit({"output": call["output"], **scores.to_json()})
    else:
        show_blocks(score_blocks(scores))
    call.show_page()


def _print(ranked: Ranked) -> None:
    blocks = []
    for runs, standing in boards(ranked.evaluation):
        words = [] if standing is None else [Text(standing.headline()), Text(standing.limits())]
        table = leaderboard(runs, {}, standing)
        blocks.append(Section(f"{runs[0].task} on {runs[0].dataset}", [table, *words]))
    show_blocks(blocks)
    for file, why in ranked.refused.items():
        echo(f"Refused: {file}: {why}.")
