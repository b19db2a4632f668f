"""`claimlab merge`: several datasets as one."""

from __future__ import annotations

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import note, suggest, wants_json, written
from claimlab.core.calls.calls import without_recordings
from claimlab.core.dataset import Dataset

app = verb()


@app.of(cl.merge)
def merge(call: Call[Dataset]) -> None:
    merged = call(datasets=without_recordings(call["datasets"]))
    if not wants_json():
        note(merged.notes, "merge")
    written(merged)
    suggest(f"claimlab split {call.output} -o SPLIT --by near-duplicates")
