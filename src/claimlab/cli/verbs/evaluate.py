"""`claimlab evaluate`: how good runs are, for whom, compared with what, and how sure that is."""

from __future__ import annotations

from typing import Annotated

import typer

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, emit, show_blocks, suggest, wants_json
from claimlab.core.calls.calls import without_recordings
from claimlab.core.options import Option
from claimlab.evaluate.evaluation import Evaluated
from claimlab.evaluate.result import Evaluation
from claimlab.pages.blocks import Column, Section, Table, Text

app = verb()


@app.of(cl.evaluate, page="output")
def evaluate(
    call: Call[Evaluated],
    check_scores: Annotated[
        bool,
        Option("Without runs: name the published scores of the catalogue that are impossible."),
    ] = False,
) -> None:
    """Evaluate runs: scores with intervals and baselines, by language, author, model, date and
    more; exit 1 where a run has no answer at all."""
    if check_scores and not call["runs"]:
        _check_papers()
        return
    output = call["output"]
    evaluation = call(runs=without_recordings(call["runs"]))
    if wants_json():
        emit({**({"output": str(output)} if output is not None else {}), **evaluation.to_json()})
    else:
        _print(evaluation)
    call.show_page()
    if any(run.scores.accuracy is None for run in evaluation.runs):
        raise typer.Exit(1)
    suggest("claimlab report eqa.toml --init" if output else "the same with -o DIR for a report")


def _check_papers() -> None:
    from claimlab.evaluate.items import check_papers

    rows = check_papers()
    if wants_json():
        emit({"rows": rows})
        return
    unsound = [row for row in rows if not row["possible"]]
    titles = {"Paper": "paper", "Row": "row", "Accuracy": "accuracy", "Macro-F1": "macro_f1"}
    show_blocks(
        [Table.of([Column(*column) for column in titles.items()], unsound)] if unsound else []
    )
    echo(
        f"{len(unsound)} of {len(rows)} rows are impossible: no confusion table of two classes has"
        " both scores, rounded or cut off as printed."
    )


def _print(evaluation: Evaluation) -> None:
    from claimlab.evaluate import tables
    from claimlab.evaluate.views import boards, headline, left_out, of_others, other_records

    for run in evaluation.runs:
        echo(headline(run))
        contamination = [] if run.contamination is None else [run.contamination.sentence()]
        for remark in (*run.cautions, *contamination, *left_out(run)):
            echo(f"  {remark}")
    sections = []
    for runs, board in boards(evaluation):
        for caution in other_records(runs):
            echo(caution)
        table = tables.leaderboard(runs, {}, board)
        words = [] if board is None else [Text(board.headline()), Text(board.limits())]
        if runs[0].ceiling is not None and runs[0].ceiling.scores:
            words.append(Text(runs[0].ceiling.sentence()))
        sections.append(Section(f"{runs[0].task} on {runs[0].dataset}", [table, *words]))
    sections += [
        Section(
            f"{board.title} of {board.dataset}",
            [tables.standings(board), Text(board.headline()), Text(board.limits())],
        )
        for board in of_others(evaluation)
    ]
    compared = tables.comparisons(evaluation.comparisons, short=True)
    more = {
        "Run against run": compared,
        "How much a shortcut explains": tables.explained(evaluation.explained),
        "Several seeds": tables.seeds(evaluation.seeds),
        "From a random split to a held-out one": tables.drops(evaluation.drops),
    }
    sections += [Section(title, [table]) for title, table in more.items() if table.rows]
    show_blocks(sections)
