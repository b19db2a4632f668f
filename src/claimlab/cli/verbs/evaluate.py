"""`claimlab evaluate`: how good runs are, for whom, compared with what, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, SeedOption, echo, emit, progress_bar, say, show_blocks, verb

if TYPE_CHECKING:
    from claimlab.evaluate.result import Evaluation
    from claimlab.evaluate.scored_run import ScoredRun

app = verb()


@app.command()
def evaluate(
    runs: Annotated[list[Path] | None, typer.Argument(help="Run folders that claimlab detect wrote.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the report (HTML, JSON, CSV, Markdown, LaTeX, pictures)."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            help="Score by this trait (language, family, script, word-order, resource, authorship, model, technique, "
            "degree, kind, topic, source, year, month) or any column or meta key; may be repeated. Default: every "
            "usual trait that tells the records apart.",
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Score as this task or column; by default the one the run was made for.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Score every labelled record of this split: one without an answer is wrong.")
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions", help="Predictions made elsewhere: a table with id, label and, optionally, score."
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="The dataset folder that --predictions are about.")
    ] = None,
    every_pair: Annotated[
        bool, typer.Option("--compare", help="Compare every pair of runs, not only each with the best.")
    ] = False,
    draws: Annotated[int, typer.Option(min=200, help="Resamples behind each interval.")] = 2_000,
    seed: SeedOption = 0,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Evaluate runs: scores with intervals and baselines, by language, author, model, date and more."""
    from claimlab.core.guard import refuse_taken
    from claimlab.evaluate.run import evaluate as run_evaluation
    from claimlab.evaluate.write import KIND, write_evaluation

    if output is not None:
        reads = [*(runs or ()), *(predictions or ()), *([data] if data is not None else [])]
        refuse_taken(output, force=force, kind=KIND, reads=reads)
    opened = _open(runs or [], predictions or [], data, task, split)
    with progress_bar() as progress:
        found = run_evaluation(opened, by=by, every_pair=every_pair, seed=seed, draws=draws, progress=progress)
    if output is not None:
        write_evaluation(found, output, force=force)
        say(f"Report: {output / 'index.html'}")
    if as_json:
        emit({**({"output": str(output)} if output is not None else {}), **found.to_json()})
        return
    _print(found)


def _open(
    runs: list[Path], predictions: list[Path], data: Path | None, task: str | None, split: str | None
) -> list[ScoredRun]:
    """Run folders and foreign predictions alike, once the options are known to go together."""
    from claimlab.core.dataset import Dataset
    from claimlab.core.errors import UsageError
    from claimlab.evaluate.foreign import open_foreign
    from claimlab.evaluate.scored_run import open_runs

    if not runs and not predictions:
        raise UsageError("Evaluate what?", "Name run folders, or --predictions FILE with --data DIR.")
    if bool(predictions) != (data is not None):
        raise UsageError("--predictions and --data go together.", "Give the table and the dataset that it is about.")
    opened = [run for path in runs for run in open_runs(path, task=task, split=split)]
    if data is not None:
        about = Dataset.open(data)
        for file in predictions:
            opened += open_foreign(file, about, task=task or "veracity", split=split)
    return opened


def _print(found: Evaluation) -> None:
    from claimlab.evaluate.views import tables
    from claimlab.evaluate.views.page import boards, headline, left_out, other_records
    from claimlab.pages.blocks import Section

    for run in found.runs:
        echo(headline(run))
        for told in (*run.cautions, *left_out(run)):
            echo(f"  {told}")
    for runs in boards(found):
        for caution in other_records(runs):
            echo(caution)
    shown = [Section(f"{runs[0].task} on {runs[0].dataset}", [tables.leaderboard(runs, {})]) for runs in boards(found)]
    if found.comparisons:
        shown.append(Section("Run against run", [tables.comparisons(found.comparisons, short=True)]))
    if found.seeds:
        shown.append(Section("Several seeds", [tables.seeds(found.seeds)]))
    if found.drops:
        shown.append(Section("From a random split to a held-out one", [tables.drops(found.drops)]))
    show_blocks(shown)
