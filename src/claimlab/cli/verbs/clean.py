"""`claimlab clean`: every record kept, dropped with a reason, or doubtful; nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.flags import in_flags
from claimlab.cli.following import following
from claimlab.cli.output import (
    echo,
    emit,
    page,
    progress_bar,
    refuse_nothing_to_open,
    screen,
    suggest,
    verb,
    written,
)

app = verb()


@app.command()
def clean(
    folder: Annotated[Path | None, typer.Argument(help="A claimlab dataset folder.")] = None,
    output: o.OptionalOutput = None,
    recipe: Annotated[
        str, typer.Option(help="A built-in recipe, or a recipe file (.toml).")
    ] = "default",
    decisions: Annotated[
        Path | None, typer.Option(help="Table of your decisions: id or row, decision, reason.")
    ] = None,
    claimreviews: Annotated[
        Path | None, typer.Option(help="Table of fact-checks: rating, and record_id or claim.")
    ] = None,
    mask: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Take out of texts what gives labels away: giveaways, keywords, urls, punctuation,"
                " digits, "
                "case, typography or whitespace; may be repeated."
            )
        ),
    ] = None,
    task: Annotated[
        str, typer.Option(help="With --mask giveaways: whose labels, a task or any column.")
    ] = "veracity",
    report: Annotated[
        Path | None, typer.Option(help="Folder for an HTML page with stages and statistics.")
    ] = None,
    recipes: Annotated[
        bool, typer.Option("--recipes", help="List the built-in recipes, and exit.")
    ] = False,
    steps: Annotated[
        bool, typer.Option("--steps", help="List the steps with their parameters, and exit.")
    ] = False,
    show_recipe: Annotated[
        str | None,
        typer.Option("--show-recipe", help="Print a recipe, to change and share it, and exit."),
    ] = None,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    engine: o.EngineOption = None,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Clean a dataset with a recipe: each record is kept, dropped with a reason, or doubtful."""
    if recipes or steps or show_recipe is not None:
        _list(show_recipe, steps, as_json)
        return
    from claimlab.core.errors import UsageError

    if folder is None or output is None:
        raise UsageError(
            "claimlab clean needs a dataset folder and an output.",
            "Write: claimlab clean DIR -o DIR",
        )
    refuse_nothing_to_open(open_page, report, "--report")
    with progress_bar() as progress:
        from claimlab.clean.front import clean as run_clean
        from claimlab.clean.views import stage_lines, to_json

        cleaned = run_clean(
            folder,
            recipe,
            output=output,
            decisions=decisions,
            claimreviews=claimreviews,
            mask=mask or (),
            task=task,
            report=report,
            seed=seed,
            limit=limit,
            force=force,
            engine=engine,
            progress=progress,
        )
    if report is not None:
        page(report / "index.html", open_page=open_page)
    for line in [] if as_json else stage_lines(cleaned.stages, screen()[0]):
        echo(in_flags(line, "clean"))
    written(cleaned.dataset, as_json=as_json, more=to_json(cleaned))
    suggest(
        following(cleaned.dataset, output, "claimlab audit {} -o REPORT", task=task),
        as_json=as_json,
    )


def _list(show_recipe: str | None, steps: bool, as_json: bool) -> None:
    """Print a recipe, or the lists of steps or recipes."""
    from claimlab.clean.recipe import STEPS, built_in, load_recipe, settable

    if show_recipe is not None:
        recipe = load_recipe(show_recipe)
        if as_json:
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
        if as_json:
            emit({"steps": rows})
            return
        for name, kind in STEPS.all().items():
            echo(f"{name}: {kind.summary}")
            for parameter, default in settable(kind).items():
                echo(f"    {parameter} = {default}")
        return
    names = [load_recipe(name) for name in built_in()]
    if as_json:
        emit({"recipes": [{"name": r.name, "version": r.version, "note": r.note} for r in names]})
        return
    for one in names:
        echo(f"{one.name}: {' '.join(one.note.split())}")
