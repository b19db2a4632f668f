"""`claimlab show`: what a folder holds, where it came from, and whether it is as it was written."""

from __future__ import annotations

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import emit, say, show_blocks, suggest, wants_json
from claimlab.pages.show import Folder, blocks

app = verb()
_NEXT = {
    "dataset": "claimlab audit {} -o REPORT",
    "run": "claimlab evaluate {} -o REPORT",
    "export": "claimlab import {} -o DIR",
    "set of splits": "claimlab show {}/NAME",
}


@app.of(cl.show)
def show(call: Call[Folder]) -> None:
    dataset = call()
    if wants_json():
        emit({**dataset.to_json(), **({"verified": True} if call["verify"] else {})})
        return
    show_blocks(blocks(dataset))
    if call["verify"]:
        say(f"Every file of '{call['data']}' is as it was written.")
    suggest(_NEXT.get(dataset.kind, "open {}/index.html").format(call["data"]))
