"""`claimlab export`: a dataset in the shape that another tool reads."""

from __future__ import annotations

from claimlab.cli.command import Call
from claimlab.cli.output import echo, emit, note, several, suggest, verb, wants_json
from claimlab.exchange.export import Exported
from claimlab.exchange.export import export as export_dataset
from claimlab.exchange.format import FORMATS

app = verb()
_NEXT = {
    "hf": "hf upload NAME {} --repo-type dataset",
    "claimreview": "publish the JSON-LD files in {}",
    "embedding-atlas": "see the README in {}",
    "inspect": "inspect eval {}/task.py --model PROVIDER/MODEL --log-format json",
    "lm-eval": "see the first lines of the YAML file in {}",
}


@app.of(
    export_dataset,
    lists={"formats": lambda: {name: one.summary for name, one in FORMATS.all().items()}},
)
def export(call: Call[Exported]) -> None:
    done = call()
    note(done.notes, "export")
    if wants_json():
        emit(done.to_json())
        return
    output, to = call.output, call["to"]
    echo(f"Wrote {output} as {to}: {done.summary} ({several(len(done.files), 'file')}).")
    suggest(_NEXT.get(to, "claimlab import {} -o DIR").format(output))
