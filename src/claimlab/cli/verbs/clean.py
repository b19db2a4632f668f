"""`claimlab clean`: every record kept, dropped with a reason, or doubtful; nothing lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import claimlab as cl
from claimlab.clean.recipe import STEPS, built_in, load_recipe, settable
from claimlab.clean.run import Cleaned
from claimlab.clean.views import class_lines, stage_lines, to_json
from claimlab.cli.command import Call, verb
from claimlab.cli.flags import in_flags
from claimlab.cli.output import echo, emit, following, note, screen, suggest, wants_json, written
from claimlab.core.errors import UsageError
from claimlab.core.options import Argument, Option, OptionalFolder
from claimlab.core.types import JsonObject
from claimlab.core.words import several

app = verb()


@app.of(cl.clean, page="report")
def clean(
    call: Call[Cleaned],
    data: Annotated[Path | None, Argument("A claimlab dataset folder.")] = None,
    output: OptionalFolder = None,
    show: Annotated[
        str | None,
        Option(
            "List the 'recipes', or the 'steps' with their parameters, or print one recipe, to"
            " change and share it; and exit.",
            metavar="WHAT",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        Option("Say what each step would take from each class, and stop; nothing is written."),
    ] = False,
) -> None:
    if show is not None:
        _LISTS.get(show, partial(_show_recipe, show))()
        return
    if dry_run and data is not None:
        _say_first(call(data=data, output=None))
        return
    if data is None or output is None:
        raise UsageError(
            "claimlab clean needs a dataset folder and an output.",
            "Write: claimlab clean DIR -o DIR",
        )
    cleaned = call(data=data, output=output)
    call.show_page()
    for line in [] if wants_json() else stage_lines(cleaned.stages, screen()[0]):
        echo(in_flags(line, "clean"))
    if words := _caution(cleaned.stages.to_dicts()):
        note([words], "clean")
    written(cleaned.dataset, more=to_json(cleaned))
    next_step = "claimlab audit {} -o REPORT"
    suggest(following(cleaned.dataset, Path(output), next_step, task=call["task"]))


def _say_first(cleaned: Cleaned) -> None:
    """What cleaning would do, before it does."""
    if wants_json():
        emit({"taken": cleaned.taken.to_dicts(), **to_json(cleaned)})
        return
    for line in [*stage_lines(cleaned.stages, screen()[0]), *class_lines(cleaned.taken)]:
        echo(in_flags(line, "clean"))
    if words := _caution(cleaned.stages.to_dicts()):
        note([words], "clean")
    echo("Nothing was written.")


def _caution(stages: Sequence[JsonObject]) -> str | None:
    """Where a recipe takes out most of the records: the step to look at, and how to do without."""
    lost = {row["step"]: (row["dropped"] or 0) + (row["doubtful"] or 0) for row in stages}
    records, gone = max((row["in"] or 0 for row in stages), default=0), sum(lost.values())
    if 2 * gone <= records:
        return None
    step, most = max(lost.items(), key=lambda loss: loss[1])
    return (
        f"Only {records - gone:,} of {several(records, 'record')} are kept: '{step}' takes out"
        f" {most:,}. If the dataset is made that way, for example of claims that differ in a word,"
        " leave the step out: `claimlab clean --show default > mine.toml`, delete it there, and use"
        " `--recipe mine.toml`."
    )


def _show_recipe(name: str) -> None:
    recipe = load_recipe(name)
    if not wants_json():
        echo(recipe.text.rstrip())
        return
    stages = [
        {"step": stage.step, "datasets": list(stage.datasets), **stage.parameters}
        for stage in recipe.stages
    ]
    about = {"name": recipe.name, "version": recipe.version, "note": recipe.note}
    emit({**about, "steps": stages})


def _list_steps() -> None:
    rows: list[JsonObject] = [
        {"step": name, "summary": kind.summary, "parameters": settable(kind)}
        for name, kind in STEPS.all().items()
    ]
    if wants_json():
        emit({"steps": rows})
        return
    for row in rows:
        echo(f"{row['step']}: {row['summary']}")
        for parameter, default in row["parameters"].items():
            echo(f"    {parameter} = {default}")


def _list_recipes() -> None:
    recipes = [load_recipe(name) for name in built_in()]
    if wants_json():
        rows = [
            {"name": recipe.name, "version": recipe.version, "note": recipe.note}
            for recipe in recipes
        ]
        emit({"recipes": rows})
        return
    for recipe in recipes:
        echo(f"{recipe.name}: {' '.join(recipe.note.split())}")


_LISTS = {"recipes": _list_recipes, "steps": _list_steps}
