"""`claimlab detect`: fit a detector on a dataset's training rows and keep its prediction for every test row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, LimitOption, SeedOption, emit, say, verb

app = verb()


@app.command()
def detect(
    folder: Annotated[Path, typer.Argument(help="A claimlab dataset folder with a split.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the run to.")],
    detector: Annotated[
        str, typer.Option(help="Which detector: majority, stratified, tfidf, or one you added.")
    ] = "tfidf",
    task: Annotated[str, typer.Option(help="A task (veracity, veracity-mixed, ...) or any column.")] = "veracity",
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Train a detector on split 'train', tune it on 'dev', and keep its predictions for 'test'."""
    from claimlab.core.dataset import Dataset, refuse_overwrite
    from claimlab.detect.detector import DETECTORS
    from claimlab.detect.run import detect as run_detector
    from claimlab.detect.scores import headline, scores_of
    from claimlab.tasks.task import open_task

    refuse_overwrite(output, force)
    chosen = DETECTORS.get(detector)
    dataset = Dataset.open(folder)
    if limit is not None:
        dataset.records = dataset.records.head(limit)
        dataset.files = {}
    asked = open_task(task, dataset.records)
    run = run_detector(dataset, chosen(), task=asked, seed=seed)
    manifest = run.write(output, force=force)
    for note in run.notes[len(dataset.notes) :]:
        say(f"Note: {note}")
    scores = scores_of(run, asked)
    if as_json:
        lineage = [step.model_dump() for step in manifest.lineage]
        emit({"output": str(output), "counts": manifest.counts, "lineage": lineage, "scores": scores})
        return
    typer.echo(f"Wrote {output}: {headline(detector, scores)}")
