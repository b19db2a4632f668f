"""`claimlab prepare`: what an audit advises, applied, and the audit before and after."""

from __future__ import annotations

import typer

from claimlab.cli.command import Call, Strict, verb
from claimlab.cli.output import (
    echo,
    emit,
    page,
    screen,
    show_blocks,
    suggest,
    wants_json,
    written,
)
from claimlab.core.errors import UsageError
from claimlab.pages.blocks import Items, Text
from claimlab.pages.terminal import to_text
from claimlab.study import prepare as room
from claimlab.study.prepare import Prepared
from claimlab.study.prepare_steps import StepPlan

app = verb()
WIDEST = 100  # columns of a line


@app.of(room.prepare, page="output")
def prepare(call: Call[Prepared], strict: Strict = False) -> None:
    if call["output"] is None and not call["dry_run"]:
        raise UsageError("Where should the dataset go?", "Name a folder with -o, or use --dry-run.")
    prepared = call(on_step=None if wants_json() else _say)
    if not wants_json():
        _show(prepared)
    if prepared.dataset.path is not None and prepared.after is not None:
        written(prepared.dataset, more=prepared.to_json())
        page(prepared.dataset.path / "report" / "index.html")
    elif wants_json():
        emit({"output": None, **prepared.to_json()})
    if prepared.next_step is None:
        suggest("the same without --dry-run, and with -o DIR")
    else:
        suggest(prepared.next_step.shell)
    if strict and (prepared.refused or _fails(prepared)):
        raise typer.Exit(3)


def _say(plan: StepPlan) -> None:
    """A step before it is applied."""
    width = min(screen()[0], WIDEST)
    echo(to_text([Items([plan.sentence])], width=width))
    if plan.instead is not None:
        echo(f"    instead: {plan.instead.shell}")


def _show(prepared: Prepared) -> None:
    width = min(screen()[0], WIDEST)
    if prepared.changes:
        echo()
        show_blocks([prepared.side_by_side()])
    if prepared.remains:
        echo(to_text([Text(prepared.remains)], width=width))
    verdicts = [("Before", prepared.before.conclusion.usable)]
    if prepared.after is not None:
        verdicts.append(("Audited again", prepared.after.conclusion.usable))
    echo()
    for name, words in verdicts:
        echo(to_text([Text(f"{name}: {words}")], width=width))


def _fails(prepared: Prepared) -> bool:
    return prepared.after is not None and bool(prepared.after.counts()["fail"])
