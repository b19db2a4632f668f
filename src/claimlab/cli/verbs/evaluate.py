"""`claimlab evaluate`: how good runs are, for whom, compared with what, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    emit,
    page,
    progress_bar,
    refuse_nothing_to_open,
    show_blocks,
    suggest,
    verb,
)

if TYPE_CHECKING:
    from claimlab.evaluate.result import Evaluation

app = verb()


@app.command()
def evaluate(
    runs: Annotated[
        list[Path] | None, o.folders_argument("Run folders that claimlab detect wrote.")
    ] = None,
    output: o.OptionalOutput = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            help=(
                "Score by this property (language, family, script, word-order, resource,"
                " authorship, model, "
                "technique, degree, kind, topic, source, year, month) or any column or meta key;"
                " may be repeated. Default: "
                "every one of these with more than one value."
            ),
        ),
    ] = None,
    task: o.OptionalTask = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Score every labelled record of this split: one without an answer is wrong."
        ),
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions",
            help="Predictions made elsewhere: a table with id, label and, optionally, score.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="The dataset folder that --predictions are about.")
    ] = None,
    every_pair: Annotated[
        bool,
        typer.Option("--compare", help="Compare every pair of runs, not only each with the best."),
    ] = False,
    contamination: Annotated[
        Path | None,
        typer.Option(
            help=(
                "A folder that claimlab contamination wrote: shown next to runs of language models."
            )
        ),
    ] = None,
    draws: Annotated[int, typer.Option(min=200, help="Resamples behind each interval.")] = 2_000,
    seed: o.SeedOption = 0,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Evaluate runs: scores with intervals and baselines, by language, author, model, date and
    more; exit 1 where a run has no answer at all."""
    words = o.arguments(locals())
    refuse_nothing_to_open(open_page, output)
    with progress_bar() as progress:
        from claimlab.evaluate.front import evaluate as run_evaluation

        evaluation = run_evaluation(**words, progress=progress)
    if as_json:
        emit({**({"output": str(output)} if output is not None else {}), **evaluation.to_json()})
    else:
        _print(evaluation)
    if output is not None:
        page(output / "index.html", open_page=open_page)
    if any(run.scores.accuracy is None for run in evaluation.runs):
        raise typer.Exit(1)
    suggest(
        "claimlab report STUDY.toml --init" if output else "the same with -o DIR for a report",
        as_json=as_json,
    )


def _print(evaluation: Evaluation) -> None:
    from claimlab.evaluate import tables
    from claimlab.evaluate.views import boards, headline, left_out, other_records
    from claimlab.pages.blocks import Section

    for run in evaluation.runs:
        echo(headline(run))
        known = [] if run.contamination is None else [run.contamination.sentence()]
        for remark in (*run.cautions, *known, *left_out(run)):
            echo(f"  {remark}")
    for runs in boards(evaluation):
        for caution in other_records(runs):
            echo(caution)
    shown = [
        Section(f"{runs[0].task} on {runs[0].dataset}", [tables.leaderboard(runs, {})])
        for runs in boards(evaluation)
    ]
    if evaluation.comparisons:
        shown.append(
            Section("Run against run", [tables.comparisons(evaluation.comparisons, short=True)])
        )
    if evaluation.seeds:
        shown.append(Section("Several seeds", [tables.seeds(evaluation.seeds)]))
    if evaluation.drops:
        shown.append(
            Section("From a random split to a held-out one", [tables.drops(evaluation.drops)])
        )
    show_blocks(shown)
