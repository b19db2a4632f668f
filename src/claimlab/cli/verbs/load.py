"""`claimlab load`: a catalogued dataset, from the zip or folder its authors publish."""

from __future__ import annotations

import claimlab as cl
from claimlab.catalog.entry import TRUTH
from claimlab.catalog.load import DATASETS, question_of
from claimlab.cli.command import Call, verb
from claimlab.cli.output import note, suggest, written
from claimlab.core.dataset import Dataset

app = verb()


@app.of(cl.load, start="loading {name}")
def load(call: Call[Dataset]) -> None:
    dataset = call()
    note(dataset.notes, "load")
    written(dataset, more={"notes": dataset.notes})
    known = dataset.card is not None and dataset.card in DATASETS
    task = question_of(DATASETS.get(str(dataset.card)).card) if known else TRUTH
    target = f" --target {task}" if task != TRUTH else ""
    suggest(f"claimlab audit {call.output} -o REPORT{target}")
