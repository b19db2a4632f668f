"""`claimlab diff`: what changed between two audits, two versions of a dataset, or two studies."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

import claimlab as cl
from claimlab.audit.diff import Diff
from claimlab.audit.views.compare import diff_blocks as audit_blocks
from claimlab.cli.command import Call, verb
from claimlab.cli.output import complain, emit, show_blocks, suggest, wants_json
from claimlab.core.errors import UsageError
from claimlab.core.options import Option
from claimlab.study.diff import StudyDiff, is_study, study_diff
from claimlab.study.diff import diff_blocks as study_blocks

app = verb()
_OF_AUDITS = {"checks": "--check", "limit": "--limit", "allow": "--allow", "map": "--map"}


@app.of(cl.diff, page="output")
def diff(
    call: Call[Diff],
    strict: Annotated[
        bool,
        Option("Exit with 3 when an amount is too much: see --max-growth and the others."),
    ] = False,
) -> None:
    """Compare two saved audits, two versions of a dataset (both are audited), or two studies (score
    by score).
    """
    before, after = Path(call["before"]), Path(call["after"])
    studies, too_much = is_study(before), False
    if studies != is_study(after):
        raise UsageError("One of the two is a study, the other is not.", "Compare two of one kind.")
    if studies:
        compared = _studies(call)
        difference, blocks = compared.to_json(), study_blocks(compared, everything=False)
    else:
        comparison = call()
        too_much = bool(comparison.gate.failed)
        difference, blocks = comparison.to_json(), audit_blocks(comparison, everything=False)
    if wants_json():
        emit(difference)
    else:
        show_blocks(blocks, most=None if studies else 120)
    call.show_page()
    if strict and too_much:
        _complain(comparison)
        raise typer.Exit(3)
    suggest(f"claimlab study table {after}" if studies else f"claimlab show {after}")


def _complain(comparison: Diff) -> None:
    """Each amount that is too much, and the options that would accept it."""
    gate = comparison.gate
    for line in gate.lines():
        complain(f"Failed: {line}.")
    words = dict.fromkeys(shlex.quote(amount.accepting) for amount in gate.failed)
    if words:
        complain(f"To accept: {' '.join(f'--allow {word}' for word in words)}")


def _studies(call: Call[Diff]) -> StudyDiff:
    for name, flag in _OF_AUDITS.items():
        if call[name]:
            problem = f"{flag} is for audits; '{call['before']}' is a study."
            raise UsageError(problem, f"Leave out {flag}.")
    words = {name: call[name] for name in ("before", "after", "output", "force")}
    return Call(study_diff, words)()
