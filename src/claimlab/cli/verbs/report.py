"""`claimlab report`: the quality assurance of a study: what it proves, what was checked, and what was not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, echo, emit, progress_bar, verb

app = verb()


@app.command()
def report(
    study: Annotated[Path, typer.Argument(help="The study file (TOML); start one with --init.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the report (HTML, Markdown, JSON).")
    ] = None,
    init: Annotated[bool, typer.Option("--init", help="Write a study file with the questions to answer.")] = False,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Write the evaluation quality assurance (EQA) report of a study, with everything that was not checked."""
    from claimlab.core.errors import UsageError
    from claimlab.evaluate.eqa.limits import KINDS
    from claimlab.evaluate.eqa.study import write_template
    from claimlab.evaluate.eqa.write import report as write_eqa

    if init:
        write_template(study)
        if as_json:
            emit({"study": str(study)})
        else:
            echo(f"Wrote {study}: answer its questions, then run: claimlab report {study} -o DIR")
        return
    if output is None:
        raise UsageError("Where should the report go?", "Name a folder with -o DIR.")
    with progress_bar() as progress:
        content = write_eqa(study, output, force=force, progress=progress)
    kinds = [limit["kind"] for limit in content["limits"]]
    counts = {kind: kinds.count(kind) for kind in KINDS if kind in kinds}
    if as_json:
        emit({"output": str(output), "limits": content["limits"], "counts": counts})
        return
    for kind, n in counts.items():
        echo(f"  {n:>4} {KINDS[kind].lower()}")
    echo(f"Wrote {output}: {len(kinds)} limits named. Open {output}/index.html")
