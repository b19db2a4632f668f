"""`claimlab detect`: fit a detector on a dataset's training rows and keep its prediction for every
test row.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.command import Call
from claimlab.cli.output import echo, say, suggest, verb, wants_json, written
from claimlab.core.dataset import Dataset
from claimlab.core.options import Option
from claimlab.detect.detector import DETECTORS
from claimlab.detect.outside import import_predictions
from claimlab.detect.run import detect as run_detect
from claimlab.detect.tables import headline

app = verb()


@app.of(
    run_detect,
    lists={"detectors": lambda: {name: one.summary for name, one in DETECTORS.all().items()}},
    flags=("batch", "max_tokens"),  # detectors have settings of these names
    start="preparing {detector}",
)
def detect(
    call: Call[Dataset],
    predictions: Annotated[
        Path | None,
        Option(
            "Make the run from predictions made elsewhere: a table with id and label, an Inspect"
            " log."
        ),
    ] = None,
) -> None:
    """Train a detector on split 'train', tune it on 'dev', and keep its predictions for 'test';
    exit 1 where all of them failed."""
    if predictions is None:
        run = call()
    else:
        shared = ("data", "output", "task", "force")
        words = {name: call.options[name] for name in shared if name in call.options}
        run = Call(import_predictions, words)(predictions=predictions)
    for note in run.report["notes"]:
        say(f"Note: {note}")
    if wants_json():
        written(run, more=run.report)
    else:
        name = run.lineage[-1].parameters["detector"]
        echo(f"Wrote {call.output}: {headline(name, run.report['scores'])}")
    if run.report["scores"]["accuracy"] is None:
        raise typer.Exit(1)
    suggest(f"claimlab evaluate {call.output} -o {call.output}-report")
