"""`claimlab generate filter`: keep the samples that pass what can be measured, and say why the
others do not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    listing,
    page,
    progress_bar,
    refuse_nothing_to_open,
    show_blocks,
    show_estimate,
    suggest,
    wants_json,
)
from claimlab.cli.output import written as wrote


def _list_metrics() -> None:
    from claimlab.generate.filter.metric import METRICS

    rows = {
        name: f"{m.summary}{'' if m.gate else ' (information only)'}; needs {m.needs}"
        for name, m in METRICS.all().items()
    }
    listing("metrics", rows, verb="generate")


def filter_(
    data: o.DatasetArgument,
    output: o.OptionalOutput = None,
    seeds: Annotated[
        Path | None, typer.Option(help="Dataset that holds the sources, where this one does not.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", help="A metric; may be repeated. By default all."),
    ] = None,
    thresholds: Annotated[
        Path | None, typer.Option(help="Your own thresholds (TOML), for what they name.")
    ] = None,
    aggregate: Annotated[
        str, typer.Option(help="Join a dimension's metrics: 'all', 'vote' or 'average'.")
    ] = "all",
    complete: Annotated[
        bool, typer.Option("--complete", help="Pass only samples with every metric measured.")
    ] = False,
    profile: o.ProfileOption = None,
    model: o.ModelOption = None,
    runs: Annotated[
        int, typer.Option(min=1, help="How often the model is asked about each sample.")
    ] = 1,
    reading: Annotated[
        str, typer.Option(help="Published thresholds for altered text: 'table' or 'text'.")
    ] = "table",
    prompts: o.PromptOption = None,
    decisions: Annotated[
        Path | None, typer.Option(help="Reviewed dataset or table, to compare with people.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Folder for a page with funnel, pass rates and examples.")
    ] = None,
    live: Annotated[Path | None, typer.Option(help="An HTML file to watch while it runs.")] = None,
    calls: o.BatchedCalls = o.BATCHED,
    estimate: o.EstimateFlag = False,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    engine: o.EngineOption = None,
    open_page: o.OpenFlag = False,
    list_metrics: Annotated[
        bool, o.listing_option("--metrics", "the metrics", _list_metrics)
    ] = False,
) -> None:
    """Filter generated text by quality: keep what passes, with the reason for everything else."""
    words = o.arguments(locals())
    refuse_nothing_to_open(open_page, report, "--report")
    if estimate:
        from claimlab.generate.filter.front import estimate_quality_filter

        show_estimate(estimate_quality_filter(**words))
        return
    with progress_bar() as progress:
        from claimlab.generate.filter.front import quality_filter

        filtered = quality_filter(**words, progress=progress)
    if report is not None:
        page(report / "index.html", open_page=open_page)
    _print(filtered, output)


def _print(filtered: Any, output: Path | None) -> None:
    from claimlab.generate.filter.views import summary, to_json

    if not wants_json():
        show_blocks(summary(filtered))
    if output is not None or wants_json():
        wrote(filtered.dataset, more={"quality": to_json(filtered)})
    if output is not None:
        suggest(f"claimlab review create {output} -o REVIEW --task keep --sample 50")
