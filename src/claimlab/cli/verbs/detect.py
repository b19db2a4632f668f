"""`claimlab detect`: fit a detector on a dataset's training rows and keep its prediction for every
test row.
"""

from __future__ import annotations

import typer

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, say, suggest, wants_json, written
from claimlab.core.dataset import Dataset
from claimlab.detect.detector import DETECTORS
from claimlab.detect.tables import answered, headline

app = verb()


@app.of(
    cl.detect,
    lists={
        "detectors": lambda: {name: detector.summary for name, detector in DETECTORS.all().items()}
    },
    flags=("batch", "max_tokens"),  # detectors have settings of these names
    start="preparing {detector}",
)
def detect(call: Call[Dataset]) -> None:
    """Train a detector on split 'train', tune it on 'dev', and keep its predictions for 'test';
    exit 1 where all of them failed."""
    run = call()
    for note in run.report["notes"]:
        say(f"Note: {note}")
    if wants_json():
        written(run, more=run.report)
    else:
        name = run.lineage[-1].parameters["detector"]
        echo(f"Wrote {call.output}: {headline(name, run)}")
    scores = run.report["scores"]
    if scores["accuracy"] is None and (scores["n"] or not answered(run.tables["predictions"])):
        raise typer.Exit(1)
    if not scores["n"]:
        suggest("claimlab publish task --help for a test whose gold is hidden")
        return
    suggest(f"claimlab evaluate {call.output} -o {call.output}-report")
