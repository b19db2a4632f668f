"""`claimlab judge`: compare the rationales of a run with fact-checking articles, and the judge with
annotators.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import echo, page, progress_bar, say, show_estimate, suggest, verb, written
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of

app = verb()


@app.command()
def judge(
    run: Annotated[Path, typer.Argument(help="A run: a folder that claimlab detect wrote.")],
    output: o.OutputOption,
    profile: o.ProfileOption = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use the weak lexical judge: no model.")
    ] = False,
    model: o.ModelOption = None,
    scale: Annotated[
        str | None,
        typer.Option(help="How it answers: 'score' (0 to 10, the default), 'binary' or 'trinary'."),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(min=1, max=25, help="How often it is asked (1): mean of scores, majority."),
    ] = None,
    prompts: o.PromptOption = None,
    articles: Annotated[
        Path | None,
        typer.Option(
            help="Table with record_id and article; else the fact-checks in the evidence."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Table of what annotators said: record_id, value (wrong, open, not wrong)."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=10, help="Score at which rationales count as wrong; by default fitted."
        ),
    ] = None,
    task: o.OptionalTask = None,
    calls: o.BatchedCalls = o.BATCHED,
    estimate: o.EstimateFlag = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Judge only the first N predictions.")
    ] = None,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Judge the rationales of a run by contradictions with fact-checking articles; exit 1 where
    every answer failed.
    """
    words = o.arguments(locals(), "run")
    from claimlab.evaluate.judge.front import estimate_judge
    from claimlab.evaluate.judge.front import judge as run_judge

    if estimate:
        show_estimate(estimate_judge(run, **words), as_json)
        return
    with progress_bar() as progress:
        judged = run_judge(run, **words, progress=progress)
    if as_json:
        written(judged.dataset, as_json=True, more=judged.dataset.report)
    else:
        _print(output, judged.summary)
    page(output / "judge-report" / "index.html", open_page=open_page)
    if not judged.summary["judged"] and judged.summary["failed"]:
        raise typer.Exit(1)
    suggest(f"claimlab evaluate {output} -o {output}-report", as_json=as_json)


def _print(output: Path, summary: JsonObject) -> None:
    echo(
        f"Wrote {output}: {several_of(summary['judged'], summary['predictions'], 'prediction')}"
        " judged."
    )
    for line in lines_of(summary):
        echo(f"  {line}")
    say(f"Note: the judge is {summary['standing']}.")


def lines_of(summary: JsonObject) -> list[str]:
    """The summary in lines: how well the judge agrees with annotators is next to every rate."""
    from claimlab.evaluate.judge.people import RATES, agreement_in_words, rate_in_words

    verdicts = ", ".join(f"{v} {n:,}" for v, n in summary["verdicts"].items())
    lines = [
        "verdicts:"
        f" {verdicts or ('not measured: no question was answered' if summary['failed'] else 'none')}"  # noqa: E501
    ]
    if summary["threshold"] is not None and summary["judged"]:
        how = "fitted" if (summary["threshold_fit"] or {}).get("fitted") else "not fitted"
        lines[0] += f" (wrong at a score of at least {summary['threshold']:g}, {how})"
    for key, who in (("by_people", "annotators"), ("by_judge", "the judge")):
        for rate, words in RATES.items() if summary[key] is not None else ():
            lines.append(f"{words}: {rate_in_words(summary[key][rate])}, by {who}")
    if summary["agreement_with_people"] is not None:
        lines.append(
            f"judge and annotators agree on {agreement_in_words(summary['agreement_with_people'])}"
        )
    elif summary["judged"]:
        lines.append("judge and annotators: agreement not measured")
    lines += [
        f"not judged, {LEFT_OUT.get(reason, reason)}: {n:,}"
        for reason, n in summary["left_out"].items()
    ]
    lines += [f"no answer, {reason}: {n:,}" for reason, n in summary["failed"].items()]
    return lines


LEFT_OUT = {
    "no-article": "no fact-check of the record",
    "other-articles": "fact-checks of other claims only",
    "no-rationale": "no rationale",
    "failed": "no prediction",
    "no-evidence": "abstained (no evidence)",
    "insufficient-evidence": "abstained (insufficient evidence)",
}
