"""`claimlab enrich`: the claim, dated evidence and existing fact-checks for every record, within a budget."""

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
    progress_bar,
    say,
    show_estimate,
    verb,
    written,
)

if TYPE_CHECKING:
    from claimlab.core.calls.calls import Calls
    from claimlab.core.dataset import Dataset
    from claimlab.enrich.flow import Settings

app = verb()


@app.command()
def enrich(
    folder: Annotated[Path, typer.Argument(help="A claimlab dataset folder; or a file of rows enriched elsewhere.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the enriched dataset to.")],
    provider: Annotated[
        list[str] | None,
        typer.Option(help="Where to search: local:FOLDER, brave, searxng, ...; again for a fallback."),
    ] = None,
    factcheck: Annotated[
        list[str] | None,
        typer.Option(help="Where to look for fact-checks: google-factcheck, local:FOLDER; again for a fallback."),
    ] = None,
    extract: Annotated[
        str, typer.Option(help="Who finds the claim: 'offline', 'model', 'first-sentence' or 'none'.")
    ] = "offline",
    profile: Annotated[str | None, typer.Option(help="Model profile; see: claimlab llm profiles")] = None,
    model: Annotated[str | None, typer.Option(help="Another model of the same endpoint.")] = None,
    claims: Annotated[int, typer.Option(min=1, max=10, help="Split a text into up to so many claims.")] = 1,
    query_rule: Annotated[str, typer.Option(help="How queries are made: 'paper' or 'released'.")] = "paper",
    correspondence: Annotated[
        str, typer.Option(help="What corresponds: 'paper' (>= .8) or 'released' (> .8).")
    ] = "paper",
    results: Annotated[int, typer.Option(min=1, max=100, help="Results of a search to keep.")] = 5,
    as_of: Annotated[
        str | None, typer.Option(help="Drop newer evidence: 'claim-date', or one day (YYYY-MM-DD) for all.")
    ] = None,
    country: Annotated[list[str] | None, typer.Option(help="BR, or por=BR for one language; may be repeated.")] = None,
    snapshot: Annotated[bool, typer.Option("--snapshot", help="Store the text of the pages that were found.")] = False,
    cache: Annotated[Path | None, typer.Option(help="Folder of recorded calls (OUTPUT.cache).")] = None,
    mode: Annotated[
        str, typer.Option(help="'record' (and resume), 'replay' (no network) or 'live' (no recording).")
    ] = "record",
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that this run may spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Paid calls, of models and search together.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens of models.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what the run would cost, and stop.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Folder for a page of outcomes, domains, ratings and patterns.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Records worked on at once.")] = 16,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Attach the claim, dated evidence and fact-checks to every record; stop, resume and replay."""
    from claimlab.core.dataset import Dataset, refuse_overwrite
    from claimlab.core.errors import UsageError
    from claimlab.core.guard import refuse_taken
    from claimlab.enrich.views import KIND

    if not estimate:
        refuse_overwrite(output, force, reads=folder)
        if report is not None:
            refuse_taken(report, force=force, kind=KIND, reads=[folder])
    if folder.is_file():
        if provider or factcheck or profile:
            raise UsageError(
                f"'{folder}' is a file of rows that are enriched already; they are read, and nobody is asked.",
                "Leave out --provider, --factcheck and --profile, or give a dataset folder.",
            )
        _import_rows(folder, output, report, limit=limit, force=force, as_json=as_json)
        return
    if not provider:
        raise UsageError("No search provider given.", "Add --provider, such as local:FOLDER or searxng.")
    settings = _settings(query_rule, correspondence, results, as_of, country or [])
    dataset = Dataset.open(folder).limited(limit)
    with progress_bar() as progress:
        calls = calls_beside(
            output, mode, cache, (max_cost, max_calls, max_tokens), estimate=estimate, progress=progress
        )
        words = {
            "web": provider,
            "factcheck": factcheck or (),
            "extract": extract,
            "profile": profile,
            "model": model,
            "claims": claims,
            "snapshot": snapshot,
        }
        if estimate:
            _estimate(dataset, calls, words, settings, as_json)
            return
        _run(dataset, calls, words, settings, output, report, concurrency, force=force, as_json=as_json)


def _settings(query_rule: str, rule: str, results: int, as_of: str | None, countries: list[str]) -> Settings:
    from datetime import date

    from claimlab.core.errors import UsageError
    from claimlab.enrich import correspondence, query
    from claimlab.enrich.flow import CLAIM_DATE, Settings
    from claimlab.enrich.open import read_countries

    if as_of is not None and as_of != CLAIM_DATE:
        try:
            date.fromisoformat(as_of)
        except ValueError:
            raise UsageError(f"'{as_of}' is not a day.", "Write --as-of claim-date, or a day as YYYY-MM-DD.") from None
    return Settings(
        query.check_rule(query_rule), correspondence.check_rule(rule), results, as_of, read_countries(countries)
    )


def _run(
    dataset: Dataset,
    calls: Calls,
    words: dict[str, Any],
    settings: Settings,
    output: Path,
    report: Path | None,
    concurrency: int,
    *,
    force: bool,
    as_json: bool,
) -> None:
    from claimlab.core import sync
    from claimlab.enrich.journal import Journal
    from claimlab.enrich.open import open_doors
    from claimlab.enrich.run import Enrichment, enrich_async, parameters

    async def whole() -> tuple[Enrichment, Journal | None]:
        async with open_doors(calls=calls, **words) as doors:
            mark = {"records": dataset.digest(), **parameters(doors, settings)}
            # A replay takes nothing but the recording: it must not pass because of what a stopped run left behind.
            journal = Journal(output, mark) if calls.mode != "replay" else None
            done = await enrich_async(
                dataset, doors, settings, journal=journal, concurrency=concurrency, progress=calls.progress
            )
            return done, journal

    done, journal = sync.run(whole())
    done.dataset.write(output, force=force)
    if journal is not None:
        journal.close(complete=True)
    calls.close()
    if calls.budget.ledger is not None:
        calls.budget.ledger.close(complete=True)
    _report(done.dataset, report, force=force)
    more = {**done.summary, "budget": calls.budget.summary()}
    written(done.dataset, as_json=as_json, more={"enrichment": more})
    if not as_json:
        _tell(done.summary)


def _tell(summary: dict[str, Any]) -> None:
    for name, n in summary["outcomes"].items():
        echo(f"  {n:>8,} {name}")
    for what, n in summary["failures"].items():
        say(f"Failed: {what} ({n:,}). Run again with --force to try these once more.")
    for standing in summary["standing"]:
        say(f"Note: the claims come from a model that is {standing}.")


def _estimate(dataset: Dataset, calls: Calls, words: dict[str, Any], settings: Settings, as_json: bool) -> None:
    from claimlab.core import sync
    from claimlab.enrich.cost import estimate
    from claimlab.enrich.open import open_doors

    async def whole() -> dict[str, Any]:
        async with open_doors(calls=calls, **words) as doors:
            return estimate(dataset, doors, settings, calls)

    show_estimate(sync.run(whole()), as_json)


def _import_rows(
    file: Path, output: Path, report: Path | None, *, limit: int | None, force: bool, as_json: bool
) -> None:
    from claimlab.enrich.imported import read_enriched

    dataset = read_enriched(file, limit=limit)
    dataset.write(output, force=force)
    _report(dataset, report, force=force)
    for note in dataset.notes:
        say(f"Note: {note}")
    written(dataset, as_json=as_json, more={"notes": dataset.notes})


def _report(dataset: Dataset, folder: Path | None, *, force: bool) -> None:
    if folder is None:
        return
    from claimlab.enrich.views import write_evidence

    write_evidence(dataset, folder, force=force)
    say(f"Report: {folder / 'index.html'}")
