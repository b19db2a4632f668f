"""`claimlab merge`: several datasets as one."""

from __future__ import annotations

from claimlab.cli.command import Call
from claimlab.cli.output import note, suggest, verb, wants_json, written
from claimlab.core.calls.calls import without_recordings
from claimlab.core.dataset import Dataset
from claimlab.exchange.merge import merge as run_merge

app = verb()


@app.of(run_merge)
def merge(call: Call[Dataset]) -> None:
    merged = call(datasets=without_recordings(call["datasets"]))
    if not wants_json():
        note(merged.notes, "merge")
    written(merged)
    suggest(f"claimlab split {call.output} -o SPLIT --by near-duplicates")
