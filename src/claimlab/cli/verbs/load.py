"""`claimlab load`: a catalogued dataset, from the zip or folder its authors publish."""

from __future__ import annotations

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import note, suggest, written
from claimlab.core.dataset import Dataset

app = verb()


@app.of(cl.load, start="loading {name}")
def load(call: Call[Dataset]) -> None:
    dataset = call()
    note(dataset.notes, "load")
    written(dataset, more={"notes": dataset.notes})
    suggest(f"claimlab audit {call.output} -o REPORT")
