"""`claimlab overlap`: what datasets share, and what a model may know of a test set."""

from __future__ import annotations

from typing import Annotated

import claimlab as cl
from claimlab.claims.conflicts import Conflicts
from claimlab.claims.front import Compared
from claimlab.claims.views import printed
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, emit, say, several, show_grid, suggest, wants_json
from claimlab.core.calls.calls import without_recordings
from claimlab.core.options import Option
from claimlab.pages.blocks import Table

app = verb()
CONFLICTS_SHOWN = 20  # conflicts; the file has all


@app.of(cl.overlap, page="output")
def overlap(
    call: Call[Compared],
    conflicts: Annotated[bool, Option("Print the claims that have different labels, too.")] = False,
) -> None:
    result = call(data=without_recordings(call["data"]))
    if wants_json():
        listed = {"labels": [conflict.to_json() for conflict in result.conflicts.conflicts]}
        emit({"output": call["output"], **result.to_json(), **(listed if conflicts else {})})
    else:
        _print(result)
        if conflicts:
            _print_conflicts(result.conflicts)
    call.show_page()
    _suggest(call, result)


def _print(result: Compared) -> None:
    table = printed(result)
    if table.rows:
        show_grid(table)
        echo(table.caption)
    for sentence in result.sentences() or ["Nothing is shared."]:
        echo(sentence)
    if not result.by_meaning and len(result.datasets) > 1:
        say("Note: paraphrases and translations were not looked for (--meaning).")
    if result.unseen is not None:
        echo(f"Unseen: {several(len(result.unseen), 'record')} of {result.unseen.name}.")
    if result.contamination is not None:
        for finding in result.contamination.findings:
            echo(f"{finding.check}: {finding.verdict.replace('-', ' ')}. {finding.why}")


def _print_conflicts(conflicts: Conflicts) -> None:
    rows = [
        (
            number if at == 0 else "",
            f"{c.similarity:.2f}" if at == 0 else "",
            s.dataset,
            s.veracity,
            s.records,
            s.text or ", ".join(s.ids),
        )
        for number, c in enumerate(conflicts.conflicts[:CONFLICTS_SHOWN], 1)
        for at, s in enumerate(c.sides)
    ]
    if rows:
        show_grid(Table(("No.", "Same", "Dataset", "Label", "Records", "Text"), rows))
    counts = conflicts.counts()
    hidden = max(0, counts["conflicts"] - CONFLICTS_SHOWN)
    more = f" ({hidden:,} not shown; conflicts.csv has all)" if hidden else ""
    echo(
        f"{several(counts['conflicts'], 'conflict')}{more} in"
        f" {several(counts['compared'], 'record')} with a label: {counts['across']:,} between"
        f" datasets, {counts['within']:,} within one, {counts['dated_apart']:,} dated apart,"
        f" {counts['other_map']:,} by another label map."
    )
    if counts["other_claims"]:
        echo(
            f"{several(counts['other_claims'], 'pair')} of nearly the same text with another"
            " number, name, word or negation: different claims."
        )


def _suggest(call: Call[Compared], result: Compared) -> None:
    if result.contamination is not None and call["output"] is not None:
        suggest(f"claimlab evaluate RUN -o REPORT --contamination {call['output']}")
    elif result.leaks.height and not call["unseen_by"]:
        worst = result.leaks.row(0, named=True)
        if worst["test"] == worst["train"]:
            suggest(f"claimlab split {worst['test']} -o DIR --by near-duplicates")
        else:
            suggest(f"claimlab overlap {worst['test']} {worst['train']} -o DIR --unseen-by all")
    else:
        suggest("claimlab merge DIR DIR -o DIR")
