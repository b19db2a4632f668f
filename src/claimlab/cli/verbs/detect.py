"""`claimlab detect`: fit a detector on a dataset's training rows and keep its prediction for every
test row.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.complete import detectors
from claimlab.cli.output import (
    echo,
    listing,
    progress_bar,
    say,
    show_estimate,
    suggest,
    verb,
    written,
)

if TYPE_CHECKING:
    from claimlab.core.dataset import Dataset

app = verb()


def _list_detectors(as_json: bool) -> None:
    from claimlab.detect.detector import DETECTORS

    rows = {name: detector.summary for name, detector in DETECTORS.all().items()}
    listing("detectors", rows, as_json=as_json, verb="detect")


DetectorOption = Annotated[
    str,
    typer.Option(
        help="The detector: tfidf, majority, llm-zero-shot, ...; see --detectors.",
        autocompletion=detectors,
    ),
]
DetectorsOption = Annotated[bool, o.listing_option("--detectors", "the detectors", _list_detectors)]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the detector, KEY=VALUE; again for more."),
]
ProviderOption = Annotated[
    list[str] | None,
    typer.Option(help="Where llm-search searches: local:FOLDER, brave, ...; again for a fallback."),
]


@app.command()
def detect(
    folder: Annotated[Path, typer.Argument(help="A claimlab dataset folder with a split.")],
    output: o.OutputOption,
    detector: DetectorOption = "tfidf",
    task: o.TaskOption = "veracity",
    settings: SettingsOption = None,
    evidence: Annotated[
        str,
        typer.Option(
            help="What it sees of the dataset's evidence: none, complete, filtered or guarded."
        ),
    ] = "none",
    pieces: Annotated[
        int, typer.Option(min=1, max=50, help="Pieces of evidence for a record, at most.")
    ] = 5,
    profile: o.ProfileOption = None,
    model: o.ModelOption = None,
    provider: ProviderOption = None,
    search_profile: Annotated[
        str | None, typer.Option(help="Profile of a cheaper model that condenses search results.")
    ] = None,
    search_model: Annotated[
        str | None, typer.Option(help="Another model of that endpoint.")
    ] = None,
    prompts: o.PromptOption = None,
    calls: o.BatchedCalls = o.BATCHED,
    estimate: o.EstimateFlag = False,
    timed: Annotated[
        bool,
        typer.Option(
            "--timed", help="Keep the seconds per prediction of local detectors too (they vary)."
        ),
    ] = False,
    seed: o.SeedOption = 0,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Predict only the first N test records.")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Make the run from predictions made elsewhere: a table with id and label, an"
                " Inspect log."
            )
        ),
    ] = None,
    _list: DetectorsOption = False,
    force: o.ForceFlag = False,
    engine: o.EngineOption = None,
    as_json: o.JsonFlag = False,
) -> None:
    """Train a detector on split 'train', tune it on 'dev', and keep its predictions for 'test';
    exit 1 where all of them failed."""
    words = o.arguments(locals(), "folder", "predictions")
    if predictions is not None:
        _from_elsewhere(folder, predictions, output, task, force, as_json)
        return
    if estimate:
        from claimlab.detect.cost import estimate as estimate_detect

        show_estimate(estimate_detect(folder, **words), as_json)
        return
    with progress_bar(start=f"preparing {detector}") as progress:
        from claimlab.detect.run import detect as run_detect

        run = run_detect(folder, **words, progress=progress)
    _show(run, output, as_json)


def _from_elsewhere(
    folder: Path, predictions: Path, output: Path, task: str, force: bool, as_json: bool
) -> None:
    from claimlab.detect.outside import import_predictions

    with progress_bar(not as_json) as progress:
        run = import_predictions(
            folder, predictions, output=output, task=task, force=force, progress=progress
        )
    _show(run, output, as_json)


def _show(run: Dataset, output: Path, as_json: bool) -> None:
    for note in run.report["notes"]:
        say(f"Note: {note}")
    from claimlab.detect.tables import headline

    if as_json:
        written(run, as_json=True, more=run.report)
    else:
        echo(
            f"Wrote {output}:"
            f" {headline(run.lineage[-1].parameters['detector'], run.report['scores'])}"
        )
    if run.report["scores"]["accuracy"] is None:
        raise typer.Exit(1)
    suggest(f"claimlab evaluate {output} -o {output}-report", as_json=as_json)
