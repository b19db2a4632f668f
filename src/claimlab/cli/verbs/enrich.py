"""`claimlab enrich`: the claim, dated evidence and existing fact-checks for every record, within a
budget.
"""

from __future__ import annotations

from pathlib import Path

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, say, suggest, wants_json, written
from claimlab.core.words import several
from claimlab.enrich.run import Enrichment

app = verb()


@app.of(cl.enrich, page="report")
def enrich(call: Call[Enrichment]) -> None:
    enriched = call()
    dataset, summary = enriched.dataset, enriched.summary
    call.show_page()
    if Path(call["data"]).is_file():  # a dataset's own notes are known
        for note in dataset.notes:
            say(f"Note: {note}")
    written(dataset, more={"enrichment": summary, "notes": dataset.notes})
    if wants_json():
        return
    for name, n in summary["outcomes"].items():
        echo(f"  {n:>8,} {name}")
    for what, n in summary["failures"].items():
        say(f"Failed: {what} ({n:,}). Run again with --force to try these once more.")
    for why, n in summary.get("not_measured", {}).items():
        say(f"Not measured: {several(n, 'record')} ({why}).")
    for standing in summary["standing"]:
        say(f"Note: the claims come from a model that is {standing}.")
    suggest(
        f"claimlab split {call.output} -o SPLIT, then claimlab detect SPLIT -o RUN --evidence"
        " filtered"
    )
