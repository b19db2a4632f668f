"""`claimlab enrich`: the claim, dated evidence and existing fact-checks for every record, within a
budget.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    page,
    progress_bar,
    refuse_nothing_to_open,
    say,
    show_estimate,
    suggest,
    verb,
    written,
)
from claimlab.core.types import JsonObject

app = verb()


ProviderOption = Annotated[
    list[str] | None,
    typer.Option(help="Where to search: local:FOLDER, brave, searxng, ...; again for a fallback."),
]
FactcheckOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Where to look for fact-checks: google-factcheck, local:FOLDER; again for a fallback."
    ),
]
ExtractOption = Annotated[
    str, typer.Option(help="Who finds the claim: 'offline', 'model', 'first-sentence' or 'none'.")
]
CorrespondenceOption = Annotated[
    str, typer.Option(help="What corresponds: 'paper' (at least 0.8) or 'released' (above 0.8).")
]
AsOfOption = Annotated[
    str | None,
    typer.Option(help="Drop newer evidence: 'claim-date', or one day (YYYY-MM-DD) for all."),
]


@app.command()
def enrich(
    folder: Annotated[
        Path,
        typer.Argument(help="A claimlab dataset folder; or a file of rows enriched elsewhere."),
    ],
    output: o.OutputOption,
    provider: ProviderOption = None,
    factcheck: FactcheckOption = None,
    extract: ExtractOption = "offline",
    profile: o.ProfileOption = None,
    model: o.ModelOption = None,
    claims: Annotated[
        int, typer.Option(min=1, max=10, help="Most claims to extract from one text.")
    ] = 1,
    query_rule: Annotated[
        str, typer.Option(help="How queries are made: 'paper' or 'released'.")
    ] = "paper",
    correspondence: CorrespondenceOption = "paper",
    results: Annotated[int, typer.Option(min=1, max=100, help="Results of a search to keep.")] = 5,
    as_of: AsOfOption = None,
    country: Annotated[
        list[str] | None, typer.Option(help="BR, or por=BR for one language; may be repeated.")
    ] = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Store the text of the pages that were found.")
    ] = False,
    prompts: o.PromptOption = None,
    calls: o.BatchedCalls = o.BATCHED,
    estimate: o.EstimateFlag = False,
    report: Annotated[
        Path | None,
        typer.Option(help="Folder for a page of outcomes, domains, ratings and patterns."),
    ] = None,
    concurrency: o.ConcurrencyOption = 16,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Attach the claim, dated evidence and fact-checks to every record; stop, resume and replay."""
    words = o.arguments(locals(), "folder")
    from claimlab.enrich.front import enrich as run_enrich
    from claimlab.enrich.front import estimate_enrich

    if estimate:
        show_estimate(estimate_enrich(folder, **words), as_json)
        return
    refuse_nothing_to_open(open_page, report, "--report")
    with progress_bar() as progress:
        enriched = run_enrich(folder, **words, progress=progress)
    if report is not None:
        page(report / "index.html", open_page=open_page)
    for note in (
        enriched.dataset.notes if folder.is_file() else ()
    ):  # a dataset's own notes are known
        say(f"Note: {note}")
    written(
        enriched.dataset,
        as_json=as_json,
        more={"enrichment": enriched.summary, "notes": enriched.dataset.notes},
    )
    if not as_json:
        _tell(enriched.summary)
        suggest(
            f"claimlab split {output} -o SPLIT, then claimlab detect SPLIT -o RUN --evidence"
            " filtered"
        )


def _tell(summary: JsonObject) -> None:
    for name, n in summary["outcomes"].items():
        echo(f"  {n:>8,} {name}")
    for what, n in summary["failures"].items():
        say(f"Failed: {what} ({n:,}). Run again with --force to try these once more.")
    for standing in summary["standing"]:
        say(f"Note: the claims come from a model that is {standing}.")
