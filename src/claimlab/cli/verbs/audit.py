"""`claimlab audit`: every shortcut, leak and contradiction of a dataset on one page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, LimitOption, SeedOption, emit, progress_bar, say, verb

if TYPE_CHECKING:
    from claimlab.audit.judge import ModelJudge
    from claimlab.core.progress import Progress

app = verb()


@app.command()
def audit(
    folders: Annotated[list[Path], typer.Argument(help="One or more claimlab dataset folders.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the report (HTML, JSON, Markdown, LaTeX).")
    ] = None,
    check: Annotated[list[str] | None, typer.Option("--check", help="Run only this check; may be repeated.")] = None,
    protocol: Annotated[str, typer.Option(help="'fair', or 'cdl' to reproduce published numbers.")] = "fair",
    target: Annotated[str, typer.Option(help="'veracity' (true/false), 'veracity-mixed', or any column.")] = "veracity",
    column: Annotated[
        list[str] | None, typer.Option("--column", help="Put this column to the test too (meta.KEY for meta).")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Model profile that judges whether claims can be checked (feasibility).")
    ] = None,
    judge_sample: Annotated[int, typer.Option(min=30, help="Records that the judge is asked about.")] = 300,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that the judge may spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Calls that the judge may make at most.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens that the judge may use at most.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when a check fails.")] = False,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Audit datasets for shortcuts, leaks and contradictions, each beside its baselines."""
    from claimlab.audit.run import audit as run_audit
    from claimlab.audit.view import headline, ordered
    from claimlab.audit.write import write_audits
    from claimlab.core.dataset import Dataset

    audits = []
    with progress_bar() as progress:
        judging = _judge(judge, judge_sample, (max_cost, max_calls, max_tokens), progress)
        for folder in folders:
            dataset = Dataset.open(folder)
            if limit is not None:
                dataset.records = dataset.records.head(limit)
                dataset.files = {}
            audits.append(
                run_audit(
                    dataset,
                    checks=check,
                    protocol=protocol,  # type: ignore[arg-type]  # checked there, with a sentence
                    target=target,
                    columns=column or (),
                    seed=seed,
                    judge=judging,
                    debug=bool(os.environ.get("CLAIMLAB_DEBUG")),
                    progress=progress,
                )
            )
    if output is not None:
        write_audits(audits, output, force=force)
        say(f"Report: {output / 'index.html'}")
    if as_json:
        findings = [{"dataset": a.dataset, **f.model_dump(mode="json")} for a in audits for f in a.findings]
        emit(
            {
                "findings": findings,
                "audits": [{k: v for k, v in a.to_json().items() if k != "findings"} for a in audits],
            }
        )
    else:
        for one in audits:
            typer.echo(f"{one.dataset}: {headline(one)}")
            for finding in ordered(one.findings):
                name = f"{finding.check}{f' ({finding.feature})' if finding.feature else ''}"
                typer.echo(f"  {finding.verdict:<12} {name}: {finding.why}")
    if strict and any(f.verdict == "fail" for a in audits for f in a.findings):
        raise typer.Exit(3)


def _judge(
    profile: str | None, sample: int, caps: tuple[float | None, int | None, int | None], progress: Progress
) -> ModelJudge | None:
    """The model that was named to judge feasibility, within its caps; null when none was."""
    from claimlab.core.errors import UsageError

    if profile is None:
        if any(cap is not None for cap in caps):
            raise UsageError("A cap was set, but an audit without a judge spends nothing.", "Add --judge PROFILE.")
        return None
    from claimlab.audit.judge import ModelJudge
    from claimlab.core.budget import Budget
    from claimlab.llm.open import open_provider

    money, calls, tokens = caps
    provider = open_provider(profile, budget=Budget(money=money, tokens=tokens, calls=calls))
    return ModelJudge(provider, sample, progress=progress)
