"""`claimlab load`: a catalogued dataset, from the zip or folder its authors publish."""

from __future__ import annotations

from claimlab.cli.command import Call
from claimlab.cli.output import note, say, suggest, verb, written
from claimlab.core.dataset import Dataset
from claimlab.exchange.load import load as load_dataset

app = verb()


@app.of(load_dataset, start="loading {name}")
def load(call: Call[Dataset]) -> None:
    dataset = call(on_terms=say)
    note(dataset.notes, "load")
    written(dataset, more={"notes": dataset.notes})
    suggest(f"claimlab audit {call.output} -o REPORT")
