"""`claimlab export`: a dataset in the shape that another tool reads."""

from __future__ import annotations

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, emit, note, several, suggest, wants_json
from claimlab.core.call import CALL
from claimlab.exchange.export import Exported
from claimlab.exchange.format import FORMATS

app = verb()


@app.of(
    cl.export,
    lists={"formats": lambda: {name: one.summary for name, one in FORMATS.all().items()}},
)
def export(call: Call[Exported]) -> None:
    done = call()
    note(done.notes, "export")
    if wants_json():
        emit(done.to_json())
        return
    output, to = call.output, call["to"]
    files = len(done.files.keys() - {CALL})  # what other tools read
    echo(f"Wrote {output} as {to}: {done.summary} ({several(files, 'file')}).")
    suggest(done.then.format(output))
