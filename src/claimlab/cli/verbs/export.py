"""`claimlab export`: a dataset in the shape that another tool reads."""

from __future__ import annotations

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, emit, note, several, suggest, wants_json
from claimlab.core.call import CALL_FILE
from claimlab.exchange.export import Exported
from claimlab.exchange.format import FORMATS

app = verb()


@app.of(
    cl.export,
    lists={"formats": lambda: {name: form.summary for name, form in FORMATS.all().items()}},
)
def export(call: Call[Exported]) -> None:
    exported = call()
    note(exported.notes, "export")
    if wants_json():
        emit(exported.to_json())
        return
    output, to = call.output, call["to"]
    files = len(exported.files.keys() - {CALL_FILE})  # what other tools read
    echo(f"Wrote {output} as {to}: {exported.summary} ({several(files, 'file')}).")
    suggest(exported.then.format(output))
