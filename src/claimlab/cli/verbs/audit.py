"""`claimlab audit`: every shortcut, leak and contradiction of a dataset on one page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from claimlab.audit import front
from claimlab.audit.check import CHECKS
from claimlab.audit.guard import strict as held_against
from claimlab.audit.result import Audit
from claimlab.audit.run import Audited
from claimlab.audit.views.screen import screen as one_screen
from claimlab.cli.command import Call, verb
from claimlab.cli.flags import in_flags
from claimlab.cli.output import complain, echo, emit, page, screen, suggest, wants_json
from claimlab.core.calls.calls import without_recordings
from claimlab.core.errors import UsageError
from claimlab.core.options import Argument, Option
from claimlab.core.places import named

app = verb()


@app.of(
    front.audit,
    page="output",
    lists={"checks": lambda: {name: check.question for name, check in CHECKS.all().items()}},
)
def audit(
    call: Call[Audited],
    data: Annotated[Sequence[Path], Argument("One or more claimlab dataset folders.")] = (),
    saved: Annotated[
        Sequence[Path],
        Option(
            "Show a saved audit.json again instead of auditing; may be repeated.", flag="--from"
        ),
    ] = (),
    verbose: Annotated[bool, Option("Print every finding in full sentences.")] = False,
    strict: Annotated[
        bool, Option("Exit with 3 unless every check has a verdict and none fails.")
    ] = False,
    allow: Annotated[
        Sequence[str],
        Option(
            "Result that --strict accepts: CHECK=AMOUNT, a fail up to that figure; CHECK, or"
            " CHECK=fail, =inconclusive or =not-measured; may be repeated.",
            metavar="CHECK",
        ),
    ] = (),
) -> None:
    folders = without_recordings(data)
    output = Path(call["output"]) if call["output"] else None
    _refuse_unclear(folders, saved)
    accepted = _accepted(strict, allow)
    if saved:
        audits: Sequence[Audit] = front.saved_audits(saved, output=output, force=call["force"])
    else:
        debug = bool(os.environ.get("CLAIMLAB_DEBUG"))
        first = call(data=folders[0], also=folders[1:], debug=debug)
        audits = [first, *first.also]
    _show(audits, folders, output, verbose)
    _fail(audits, accepted)


def _accepted(strict: bool, allow: Sequence[str]) -> Sequence[str] | None:
    """What --strict accepts, and null without it. An unknown check is refused before the work."""
    if allow and not strict:
        raise UsageError("--allow says what --strict accepts.", "Add --strict.")
    if allow:
        held_against([], allow)
    return allow if strict else None


def _fail(audits: Sequence[Audit], accepted: Sequence[str] | None) -> None:
    """Exit with 3 where a result is not accepted, with the reason of each and the options that
    would accept it.
    """
    if accepted is None:
        return
    against = held_against(audits, accepted)
    for line in against.lines(brief=True):
        complain(f"Failed: {in_flags(line, 'audit')}")
    if against.refused:
        complain(f"To accept: {' '.join(f'--allow {option}' for option in against.options)}")
    if against.lines():
        raise typer.Exit(3)


def _refuse_unclear(folders: Sequence[Path], saved: Sequence[Path]) -> None:
    if bool(folders) == bool(saved):
        raise UsageError(
            "No dataset given.",
            "Name dataset folders, or a saved audit with --from FILE, but not both.",
        )


def _show(
    audits: Sequence[Audit], paths: Sequence[Path], output: Path | None, verbose: bool
) -> None:
    if wants_json():
        findings = [
            {"dataset": a.dataset, **f.model_dump(mode="json")} for a in audits for f in a.findings
        ]
        heads = [
            {k: v for k, v in a.to_json().items() if k not in ("findings", "examples")}
            for a in audits
        ]
        emit({"findings": findings, "audits": heads})
    else:
        _print(audits, paths, verbose)
    if output is not None:
        page(output / "index.html")
    suggest(audits[0].next_step(str(paths[0]) if paths else None).shell)


def _print(audits: Sequence[Audit], paths: Sequence[Path], verbose: bool) -> None:
    width, colour = screen()
    for audit, path in zip_longest(audits, paths):
        where = None if path is None else named(str(path))
        text = one_screen(
            audit,
            width=min(width, 120),
            colour=colour,
            verbose=verbose,
            folder=where,
            more="--verbose",
        )
        echo(text, styled=True)
