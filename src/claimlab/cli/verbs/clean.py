"""`claimlab clean`: every record kept, dropped with a reason, or doubtful; nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from claimlab.clean.front import clean as run_clean
from claimlab.clean.recipe import STEPS, built_in, load_recipe, settable
from claimlab.clean.run import Cleaned
from claimlab.clean.views import stage_lines, to_json
from claimlab.cli.command import Call, OpenPage
from claimlab.cli.flags import in_flags
from claimlab.cli.following import following
from claimlab.cli.output import (
    echo,
    emit,
    page,
    refuse_nothing_to_open,
    screen,
    suggest,
    verb,
    wants_json,
    written,
)
from claimlab.core.errors import UsageError
from claimlab.core.options import Argument, Option, OptionalFolder

app = verb()


@app.of(run_clean)
def clean(
    call: Call[Cleaned],
    data: Annotated[Path | None, Argument("A claimlab dataset folder.")] = None,
    output: OptionalFolder = None,
    recipes: Annotated[bool, Option("List the built-in recipes, and exit.")] = False,
    steps: Annotated[bool, Option("List the steps with their parameters, and exit.")] = False,
    show_recipe: Annotated[
        str | None, Option("Print a recipe, to change and share it, and exit.")
    ] = None,
    open_page: OpenPage = False,
) -> None:
    if recipes or steps or show_recipe is not None:
        _list(show_recipe, steps)
        return
    if data is None or output is None:
        raise UsageError(
            "claimlab clean needs a dataset folder and an output.",
            "Write: claimlab clean DIR -o DIR",
        )
    refuse_nothing_to_open(open_page, call["report"], "--report")
    cleaned = call(data=data, output=output)
    if call["report"] is not None:
        page(call["report"] / "index.html", open_page=open_page)
    for line in [] if wants_json() else stage_lines(cleaned.stages, screen()[0]):
        echo(in_flags(line, "clean"))
    written(cleaned.dataset, more=to_json(cleaned))
    next_step = "claimlab audit {} -o REPORT"
    suggest(following(cleaned.dataset, Path(output), next_step, task=call["task"]))


def _list(show_recipe: str | None, steps: bool) -> None:
    """Print a recipe, or the lists of steps or recipes."""
    if show_recipe is not None:
        recipe = load_recipe(show_recipe)
        if wants_json():
            stages = [
                {"step": s.step, "datasets": list(s.datasets), **s.parameters}
                for s in recipe.stages
            ]
            emit(
                {
                    "name": recipe.name,
                    "version": recipe.version,
                    "note": recipe.note,
                    "steps": stages,
                }
            )
        else:
            echo(recipe.text.rstrip())
        return
    if steps:
        rows = [
            {"step": n, "summary": k.summary, "parameters": settable(k)}
            for n, k in STEPS.all().items()
        ]
        if wants_json():
            emit({"steps": rows})
            return
        for name, kind in STEPS.all().items():
            echo(f"{name}: {kind.summary}")
            for parameter, default in settable(kind).items():
                echo(f"    {parameter} = {default}")
        return
    names = [load_recipe(name) for name in built_in()]
    if wants_json():
        emit({"recipes": [{"name": r.name, "version": r.version, "note": r.note} for r in names]})
        return
    for one in names:
        echo(f"{one.name}: {' '.join(one.note.split())}")
