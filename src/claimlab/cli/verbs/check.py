"""`claimlab check`: whether a file can be used, and what to do first, in one command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from claimlab.cli.command import Call, OpenPage, verb
from claimlab.cli.output import echo, emit, page, screen, suggest, wants_json
from claimlab.core.options import Option
from claimlab.study import first_look
from claimlab.study.first_look import Checked

app = verb()


@app.of(first_look.check)
def check(
    call: Call[Checked],
    output: Annotated[
        Path | None, Option("Folder to write to; FILE-check here by default.", short="-o")
    ] = None,
    open_page: OpenPage = False,
) -> None:
    folder = output or _beside(call["data"])
    checked = call(output=folder)
    if wants_json():
        emit(checked.to_json())
    else:
        echo(first_look.screen(checked, min(screen()[0], 100)))
        echo(f"Each in a sentence: claimlab audit --from {folder / first_look.REPORT} --verbose")
    if checked.page is not None:
        page(checked.page, open_page=open_page)
    suggest(checked.next_step.shell)


def _beside(files: Sequence[Path]) -> Path:
    """The folder that is named after the first file, in the current one."""
    return Path(f"{Path(files[0]).stem or 'data'}-check")
