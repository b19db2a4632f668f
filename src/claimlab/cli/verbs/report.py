"""`claimlab report`: the quality assurance of a study: what it proves, what was checked, and what
was not.
"""

from __future__ import annotations

from typing import Annotated

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.flags import in_flags
from claimlab.cli.output import echo, emit, several, suggest, suggest_serving, wants_json
from claimlab.core.errors import UsageError
from claimlab.core.options import Option
from claimlab.evaluate.eqa.limits import KINDS
from claimlab.evaluate.eqa.study import new_study as start
from claimlab.evaluate.eqa.write import Assurance

app = verb()


@app.of(cl.report, page="output")
def report(
    call: Call[Assurance],
    new_study: Annotated[
        bool, Option("Write an EQA file with the questions to answer.", flag="--init")
    ] = False,
) -> None:
    study = call["study"]
    if new_study:
        start(study)
        if wants_json():
            emit({"study": str(study)})
        else:
            echo(f"Wrote {study}: answer its questions.")
            suggest(f"claimlab report {study} -o DIR")
        return
    if call["output"] is None:
        raise UsageError("No output folder was given.", "Name a folder with -o DIR.")
    assurance, output = call(), call.output
    if wants_json():
        content = {
            "shifts": assurance["shifts"],
            "limits": assurance["limits"],
            "counts": assurance.counts(),
        }
        emit({"output": str(output), **content})
    else:
        for limit in (limit for limit in assurance["limits"] if limit["kind"] == "shift"):
            echo(f"Missing test: {in_flags(limit['sentence'], 'report')}")
        for kind, n in assurance.counts().items():
            echo(f"  {KINDS[kind]}: {n}")
        echo(f"Wrote {output}: {several(len(assurance['limits']), 'limitation')} listed.")
    call.show_page()
    suggest_serving(output)
