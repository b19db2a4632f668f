"""`claimlab generate`: benchmark text with label, origin and change log, and the filter that
decides what to keep.
"""

from __future__ import annotations

from claimlab.cli.command import verb
from claimlab.cli.verbs._generate_filter import filter_
from claimlab.cli.verbs._generate_run import preview, run

app = verb(help="Benchmark text: make it with a label, an origin and a change log, and filter it.")


@app.callback()
def _commands() -> None:
    """A verb with sub-commands, also while it has only one."""


app.command()(preview)
app.command()(run)
app.command("filter")(filter_)
