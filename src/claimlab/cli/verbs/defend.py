"""`claimlab defend`: what the score of a run is made of."""

from __future__ import annotations

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.flags import in_flags
from claimlab.cli.output import echo, emit, show_blocks, suggest, wants_json
from claimlab.evaluate.defend.front import Defended
from claimlab.evaluate.defend.page import tables

app = verb()


@app.of(cl.defend, page="output")
def defend(call: Call[Defended]) -> None:
    defence = call()
    if wants_json():
        emit({"output": call["output"], **defence.to_json()})
    else:
        for sentence in defence.sentences():
            echo(in_flags(sentence, "defend"))
        show_blocks(tables(defence))
    call.show_page()
    suggest("claimlab report eqa.toml --init" if call["output"] else "the same with -o DIR")
