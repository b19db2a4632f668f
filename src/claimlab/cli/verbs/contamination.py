"""`claimlab contamination`: does a model know the test set?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import echo, emit, page, progress_bar, say, show_estimate, suggest, verb
from claimlab.core.words import several

app = verb()


@app.command()
def contamination(
    data: o.DatasetArgument,
    output: o.OutputOption,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            "--corpus",
            help="A file, folder or dataset that the model may have read; may be repeated.",
        ),
    ] = None,
    cutoff: Annotated[
        str | None,
        typer.Option(
            help="The model's knowledge cut-off: a date such as 2024-06, or a model's name."
        ),
    ] = None,
    profile: o.ProfileOption = None,
    model: o.ModelOption = None,
    probes: Annotated[
        int, typer.Option(min=20, help="Records that the model is asked to complete.")
    ] = 100,
    prompts: o.PromptOption = None,
    split: Annotated[
        str | None, typer.Option(help="Measure this split only, such as test.")
    ] = None,
    calls: o.BatchedCalls = o.BATCHED,
    estimate: o.EstimateFlag = False,
    limit: o.LimitOption = None,
    seed: o.SeedOption = 0,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Measure whether a model may know a test set: by word sequences, dates and completions."""
    words = o.arguments(locals())
    from claimlab.evaluate.contamination.front import contamination as measure
    from claimlab.evaluate.contamination.front import estimate_contamination

    if estimate:
        show_estimate(estimate_contamination(**words), as_json)
        return
    with progress_bar() as progress:
        report = measure(**words, progress=progress)
    if as_json:
        emit({"output": str(output), **report.to_json()})
    else:
        counts = ", ".join(f"{name} {n:,}" for name, n in report.counts().items())
        echo(f"Wrote {output}: {several(len(report), 'record')} ({counts}).")
        for finding in report.findings:
            echo(f"  {finding.check}: {finding.verdict.replace('-', ' ')}. {finding.why}")
    if profile is None:
        say(
            "Note: no model was asked (--profile): whether it can complete the texts is not"
            " measured."
        )
    page(output / "index.html", open_page=open_page)
    suggest(f"claimlab evaluate RUN -o REPORT --contamination {output}", as_json=as_json)
