"""`claimlab diff`: what changed between two audits, two versions of a dataset, or two studies."""

from __future__ import annotations

from pathlib import Path

from claimlab.audit.diff import Diff
from claimlab.audit.front import diff as compare
from claimlab.audit.views.compare import diff_blocks as audit_blocks
from claimlab.cli.command import Call, OpenPage
from claimlab.cli.output import (
    emit,
    page,
    refuse_nothing_to_open,
    show_blocks,
    suggest,
    verb,
    wants_json,
)
from claimlab.core.errors import UsageError
from claimlab.study.diff import diff_blocks as study_blocks
from claimlab.study.diff import is_study, study_diff

app = verb()


@app.of(compare)
def diff(call: Call[Diff], open_page: OpenPage = False) -> None:
    """Compare two saved audits, two versions of a dataset (both are audited), or two studies (score
    by score).
    """
    before, after, output = Path(call["before"]), Path(call["after"]), call["output"]
    refuse_nothing_to_open(open_page, output)
    if is_study(before) != is_study(after):
        raise UsageError("One of the two is a study, the other is not.", "Compare two of one kind.")
    studies = is_study(before)
    if studies:
        for name, flag in _OF_AUDITS.items():
            if call[name]:
                raise UsageError(
                    f"{flag} is for audits; '{before}' is a study.", f"Leave out {flag}."
                )
        words = {name: call[name] for name in ("before", "after", "output", "force")}
        compared = Call(study_diff, words)()
        difference, blocks = compared.to_json(), study_blocks(compared, everything=False)
    else:
        done = call()
        difference, blocks = done.to_json(), audit_blocks(done, everything=False)
    if wants_json():
        emit(difference)
    else:
        show_blocks(blocks, most=None if studies else 120)
    if output is not None:
        page(Path(output) / "index.html", open_page=open_page)
    suggest(f"claimlab study table {after}" if studies else f"claimlab show {after}")


_OF_AUDITS = {"checks": "--check", "columns": "--column", "limit": "--limit"}
