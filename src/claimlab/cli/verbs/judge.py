"""`claimlab judge`: hold the reasons of a run against fact-checking articles, and the judge against people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimlab.cli.output import (
    ForceFlag,
    JsonFlag,
    LimitOption,
    calls_beside,
    echo,
    emit,
    progress_bar,
    say,
    show_estimate,
    verb,
)

if TYPE_CHECKING:
    from claimlab.core.calls.calls import Calls
    from claimlab.core.dataset import Dataset
    from claimlab.evaluate.judge.opinions import Judge
    from claimlab.tasks.task import Task

app = verb()


@app.command()
def judge(
    run: Annotated[Path, typer.Argument(help="A run: a folder that claimlab detect wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the judged run to.")],
    profile: Annotated[str | None, typer.Option(help="Model profile of the judge; see: claimlab llm profiles")] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Use the weak lexical judge: no model.")] = False,
    model: Annotated[str | None, typer.Option(help="Another model of the same endpoint.")] = None,
    scale: Annotated[
        str | None, typer.Option(help="How it answers: 'score' (0 to 10, the default), 'binary' or 'trinary'.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, max=25, help="How often it is asked (1): mean of scores, majority.")
    ] = None,
    articles: Annotated[
        Path | None, typer.Option(help="Table with record_id and article; else the fact-checks in the evidence.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Table of what people said: record_id, value (wrong, open, not wrong)."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=10, help="Score from which reasons are wrong, instead of fitting it.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Which labels count as right; by default those the run was made for.")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of recorded calls (OUTPUT.cache).")] = None,
    mode: Annotated[
        str, typer.Option(help="'record' (and resume), 'replay' (no network) or 'live' (no recording).")
    ] = "record",
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that the judge may spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Calls that the judge may make at most.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens that the judge may use at most.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what it would cost, and stop.")] = False,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Judge the reasons of a run by contradictions with fact-checking articles."""
    from claimlab.core.dataset import Dataset, refuse_overwrite
    from claimlab.core.errors import UsageError
    from claimlab.detect.open import open_handles
    from claimlab.evaluate.judge.opinions import ModelJudge, Nobody, check_scale
    from claimlab.evaluate.scored_run import task_of
    from claimlab.tasks.task import open_task

    if not estimate:
        refuse_overwrite(output, force, reads=run)
    if offline and profile is not None:
        raise UsageError("Two judges were named.", "Give --profile NAME, or --offline, not both.")
    _refuse_unheard(profile, {"--model": model, "--scale": scale, "--runs": runs}, scale, threshold)
    dataset = Dataset.open(run).limited(limit)
    asked = open_task(task or task_of(dataset), dataset.records)
    with progress_bar() as progress:
        calls = calls_beside(
            output, mode, cache, (max_cost, max_calls, max_tokens), estimate=estimate, progress=progress
        )
        with open_handles(calls, profile=profile, model=model) as opened:
            chosen: Judge
            if offline:
                from claimlab.evaluate.judge.lexical import LexicalJudge

                chosen = LexicalJudge()
            elif profile is None:
                chosen = Nobody()
            else:
                chosen = ModelJudge(opened["model"], scale=check_scale(scale or "score"), runs=runs or 1)
            if estimate:
                _estimate(dataset, chosen, asked, articles, calls, as_json)
                return
            _run(dataset, chosen, asked, calls, output, articles, labels, threshold, force=force, as_json=as_json)


def _refuse_unheard(profile: str | None, asked: dict[str, Any], scale: str | None, threshold: float | None) -> None:
    """An option that nobody would hear is a misunderstanding: say so before anything is spent."""
    from claimlab.core.errors import UsageError

    unheard = [name for name, value in asked.items() if value is not None] if profile is None else []
    if unheard:
        raise UsageError(f"{' and '.join(unheard)} can only be asked of a model.", "Name one with --profile.")
    if threshold is not None and scale in ("binary", "trinary"):
        raise UsageError(f"The scale '{scale}' has no threshold.", "Leave out --threshold, or use --scale score.")


def _run(
    dataset: Dataset,
    chosen: Judge,
    asked: Task,
    calls: Calls,
    output: Path,
    articles: Path | None,
    labels: Path | None,
    threshold: float | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    from claimlab.evaluate.judge.cases import read_articles
    from claimlab.evaluate.judge.people import read_people
    from claimlab.evaluate.judge.run import REPORT, judge_run

    done = judge_run(
        dataset,
        chosen,
        task=asked,
        articles=read_articles(articles) if articles is not None else None,
        people=read_people(labels) if labels is not None else None,
        threshold=threshold,
        progress=calls.progress,
    )
    manifest = done.write(output, force=force)
    if calls.budget.ledger is not None:
        calls.budget.ledger.close(complete=True)
    if as_json:
        lineage = [step.model_dump() for step in manifest.lineage]
        more = {"judge": done.summary, "budget": calls.budget.summary()}
        emit({"output": str(output), "counts": manifest.counts, "lineage": lineage, **more})
        return
    echo(f"Wrote {output}: {done.summary['judged']:,} of {done.summary['predictions']:,} predictions judged.")
    for line in told(done.summary):
        echo(f"  {line}")
    say(f"Note: the judge is {done.summary['standing']}.")
    say(f"Report: {output / REPORT / 'index.html'}")


def told(summary: dict[str, Any]) -> list[str]:
    """The summary in lines."""
    lines = [f"verdicts: {', '.join(f'{v} {n:,}' for v, n in summary['verdicts'].items()) or 'none'}"]
    if summary["threshold"] is not None and summary["judged"]:
        how = "fitted" if (summary["threshold_fit"] or {}).get("fitted") else "not fitted"
        lines[0] += f" (wrong from a score of {summary['threshold']:g} on, {how})"
    for who in ("people", "judge"):
        if summary[f"by_{who}"] is not None:
            lines += [_rate(summary[f"by_{who}"], key, who) for key in ("false_incorrect", "false_correct")]
    lines += [f"left out: {reason} {n:,}" for reason, n in summary["left_out"].items()]
    lines += [f"no answer: {reason} {n:,}" for reason, n in summary["failed"].items()]
    return lines


def _rate(rates: dict[str, Any], key: str, who: str) -> str:
    part = rates[key]
    name = key.replace("_", "-")
    if part["rate"] is None:
        return f"{name} by {who}: not measured (no such case was judged)"
    low, high = part["interval"]
    return f"{name} by {who}: {100 * part['rate']:.1f} % of {part['n']:,} (95 % {100 * low:.0f} to {100 * high:.0f})"


def _estimate(dataset: Dataset, chosen: Judge, asked: Task, articles: Path | None, calls: Calls, as_json: bool) -> None:
    from claimlab.core.calls.estimate import estimated
    from claimlab.core.errors import UsageError
    from claimlab.evaluate.judge.cases import articles_in, read_articles, read_cases
    from claimlab.evaluate.judge.opinions import ModelJudge
    from claimlab.llm.estimate import estimate

    if not isinstance(chosen, ModelJudge):
        raise UsageError("No model is asked: it costs nothing.", "Leave --estimate out.")
    found = read_articles(articles) if articles is not None else articles_in(dataset)
    cases = [c for c in read_cases(dataset, asked, found) if c.left_out is None]
    requests = (chosen.request(case, attempt) for case in cases for attempt in range(chosen.runs))
    profile = chosen.provider.profile
    parts = {profile.chosen_model(): estimate(requests, profile, recording=calls.existing())}
    show_estimate(estimated(parts, facts={"cases": len(cases)}), as_json)
