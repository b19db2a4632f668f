"""`claimlab check`: whether a file can be used, and what to do first, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from claimlab.cli.command import ALWAYS, Call, verb
from claimlab.cli.output import echo, emit, page, screen, suggest, wants_json
from claimlab.core.options import Option
from claimlab.study import first_look
from claimlab.study.first_look import FirstLook

app = verb()


@app.of(first_look.check, page=ALWAYS)
def check(
    call: Call[FirstLook],
    output: Annotated[
        Path | None, Option("Folder to write to; FILE-check here by default.", short="-o")
    ] = None,
) -> None:
    first = Path(call["data"][0])
    folder = output or Path(f"{first.stem or 'data'}-check")
    checked = call(output=folder)
    if wants_json():
        emit(checked.to_json())
    else:
        echo(first_look.screen(checked, min(screen()[0], 100)))
        echo(f"Each in a sentence: claimlab audit --from {folder / first_look.REPORT} --verbose")
    if checked.page is not None:
        page(checked.page)
    suggest(checked.next_step.shell)
