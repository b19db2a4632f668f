"""`claimlab audit`: every shortcut, leak and contradiction of a dataset on one page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, LimitOption, SeedOption, emit, progress_bar, say, verb

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
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when a check fails.")] = False,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Audit datasets for shortcuts, leaks and contradictions, each beside its baselines."""
    from claimlab.audit.run import audit as run_audit
    from claimlab.audit.views.wording import headline, ordered
    from claimlab.audit.write import write_audits
    from claimlab.core.dataset import Dataset

    audits = []
    with progress_bar() as progress:
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
