"""`claimlab trust`: see what a file from someone else names outside its folder, and allow it
once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.command import verb
from claimlab.cli.output import echo, emit, show_blocks, wants_json
from claimlab.core.errors import UsageError
from claimlab.core.grants import Wanted, allow, is_allowed, withdraw
from claimlab.core.options import Argument, Option
from claimlab.core.words import several

app = verb()


@app.of(None)
def trust(
    file: Annotated[
        Path, Argument("A study, a report's file, a model profile, or a folder to rerun.")
    ],
    yes: Annotated[bool, Option("Allow without asking.")] = False,
    revoke: Annotated[bool, Option("Forget that the file was allowed.")] = False,
) -> None:
    """Show the hosts, environment variables and outside paths that a file names, and allow them.
    The answer holds for this content of the file: one changed byte, and it is asked for again."""
    subject, needs = _needs(file)
    if revoke:
        withdraw(subject, needs)
    elif not is_allowed(subject, needs):
        if not wants_json():
            _show(file, needs)
        if yes or _agreed():
            allow(subject, needs)
    allowed = is_allowed(subject, needs)
    state = f"{several(len(needs), 'entry', 'entries')} {'allowed' if allowed else 'not allowed'}"
    if wants_json():
        emit({"file": str(file), "allowed": allowed, "needs": [vars(need) for need in needs]})
    elif needs:
        echo(f"{file}: {state}.")
    else:
        echo(f"{file} names nothing outside its folder: there is nothing to allow.")
    if not allowed and not revoke:
        raise typer.Exit(1)


def _needs(file: Path) -> tuple[Path, list[Wanted]]:
    """The file that is judged, and what it names."""
    from claimlab.study.received import wanted_in

    if not file.exists():
        raise UsageError(
            f"There is no '{file}'.",
            "Name a study, a report's file, a profile, or a folder to rerun.",
        )
    return wanted_in(file)


def _show(file: Path, needs: list[Wanted]) -> None:
    from claimlab.pages.blocks import Table

    echo(f"{file} names what is outside its folder:")
    show_blocks(
        [Table(("", "", ""), [(need.kind, need.value, need.use) for need in needs])], most=200
    )


def _agreed() -> bool:
    import sys

    return (
        not wants_json()
        and sys.stdin.isatty()
        and typer.confirm("Allow all of this for this file?", default=False)
    )
