"""`claimlab report`: the quality assurance of a study: what it proves, what was checked, and what
was not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.flags import in_flags
from claimlab.cli.output import (
    echo,
    emit,
    page,
    progress_bar,
    several,
    suggest,
    suggest_serving,
    verb,
)
from claimlab.core.errors import UsageError

app = verb()


@app.command()
def report(
    study: Annotated[Path, typer.Argument(help="The EQA file (TOML); start one with --init.")],
    output: o.OptionalOutput = None,
    new_study: Annotated[
        bool, typer.Option("--init", help="Write an EQA file with the questions to answer.")
    ] = False,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Write the evaluation quality assurance (EQA) report of a study, with everything that was not
    checked.
    """
    if new_study:
        from claimlab.evaluate.eqa.study import new_study as start

        start(study)
        if as_json:
            emit({"study": str(study)})
        else:
            echo(f"Wrote {study}: answer its questions.")
            suggest(f"claimlab report {study} -o DIR")
        return
    if output is None:
        raise UsageError("No output folder was given.", "Name a folder with -o DIR.")
    with progress_bar() as progress:
        from claimlab.evaluate.eqa.limits import KINDS
        from claimlab.evaluate.eqa.write import report as write_eqa

        done = write_eqa(study, output, force=force, progress=progress)
    if as_json:
        emit(
            {
                "output": str(output),
                "shifts": done["shifts"],
                "limits": done["limits"],
                "counts": done.counts(),
            }
        )
    else:
        for limit in (limit for limit in done["limits"] if limit["kind"] == "shift"):
            echo(f"Missing test: {in_flags(limit['sentence'], 'report')}")
        for kind, n in done.counts().items():
            echo(f"  {KINDS[kind]}: {n}")
        echo(f"Wrote {output}: {several(len(done['limits']), 'limitation')} listed.")
    page(output / "index.html", open_page=open_page)
    suggest_serving(output, as_json=as_json)
