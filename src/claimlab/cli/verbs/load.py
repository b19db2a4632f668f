"""`claimlab load`: a catalogued dataset by its name, or from the files its authors publish."""

from __future__ import annotations

from pathlib import Path

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import note, say, suggest, written
from claimlab.core.dataset import Dataset

app = verb()


@app.of(cl.load, start="loading {name}")
def load(call: Call[Dataset]) -> None:
    if call["source"] is None and not Path(call["name"]).is_dir():
        from claimlab.catalog.load import foretold

        for line in foretold(call["name"]):
            say(line)
    dataset = call()
    note(dataset.notes, "load")
    written(dataset, more={"notes": dataset.notes})
    suggest(f"claimlab audit {call.output} -o REPORT")
