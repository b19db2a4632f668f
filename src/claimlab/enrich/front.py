"""`cl.enrich` and `claimlab enrich`: the claim, dated evidence and existing fact-checks for every
record.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Unpack

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.errors import UsageError
from claimlab.core.guard import refuse_taken
from claimlab.core.options import (
    Argument,
    BatchOptions,
    Concurrency,
    Force,
    Limit,
    ModelName,
    Option,
    OutputFolder,
    Place,
    Profile,
    PromptFiles,
    Setting,
)
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.types import JsonObject
from claimlab.enrich import correspondence as correspondences
from claimlab.enrich import query
from claimlab.enrich.cost import cost
from claimlab.enrich.flow import CLAIM_DATE, Settings
from claimlab.enrich.imported import read_enriched
from claimlab.enrich.open import open_doors, read_countries
from claimlab.enrich.run import CONCURRENCY, Enrichment, enrich_async, parameters
from claimlab.enrich.views import KIND, write_evidence


@repeatable("report")
def enrich(
    data: Annotated[
        Source, Argument("A claimlab dataset folder; or a file of rows enriched elsewhere.")
    ],
    provider: Annotated[
        str | Sequence[str],
        Option("Where to search: local:FOLDER, brave, searxng, ...; again for a fallback."),
    ] = (),
    *,
    output: OutputFolder = None,
    factcheck: Annotated[
        str | Sequence[str],
        Option(
            "Where to look for fact-checks: google-factcheck, local:FOLDER; again for a fallback."
        ),
    ] = (),
    extract: Annotated[
        str,
        Option("Who finds the claim: 'offline', 'model', 'first-sentence' or 'none'."),
    ] = "offline",
    profile: Profile = None,
    model: ModelName = None,
    claims: Annotated[int, Setting("Most claims to extract from one text.", least=1, most=10)] = 1,
    prompts: PromptFiles = (),
    query_rule: Annotated[str, Setting("How queries are made: 'paper' or 'released'.")] = "paper",
    correspondence: Annotated[
        str, Setting("What corresponds: 'paper' (at least 0.8) or 'released' (above 0.8).")
    ] = "paper",
    results: Annotated[int, Setting("Results of a search to keep.", least=1, most=100)] = 5,
    as_of: Annotated[
        str | None,
        Option("Drop newer evidence: 'claim-date', or one day (YYYY-MM-DD) for all."),
    ] = None,
    country: Annotated[
        Sequence[str], Setting("BR, or por=BR for one language; may be repeated.")
    ] = (),
    snapshot: Annotated[bool, Setting("Store the text of the pages that were found.")] = False,
    report: Annotated[
        Place | None, Option("Folder for a page of outcomes, domains, ratings and patterns.")
    ] = None,
    concurrency: Concurrency = CONCURRENCY,
    limit: Limit = None,
    force: Force = False,
    progress: Progress = silent,
    **calls: Unpack[BatchOptions],
) -> Enrichment:
    """Attach the claim, dated evidence and fact-checks to every record; stop, resume and replay.

    What is finished is kept, so that the same call goes on after a stop, and the caps hold over all
    its starts. The rows of a file that were enriched elsewhere are read, and nothing is asked.
    """
    names = _names(provider), _names(factcheck)
    if report is not None:
        refuse_taken(Path(report), force=force, kind=KIND, reads=folders_of(data))
    if isinstance(data, str | Path) and Path(data).is_file():
        enriched = _imported(
            Path(data), [*names[0], *names[1]], profile, output, limit=limit, force=force
        )
    else:
        settings = _settings(query_rule, correspondence, results, as_of, country)
        _require(names[0])
        with Run(
            "enrich", data, output, limit=limit, force=force, progress=progress, **calls
        ) as run:
            words = {
                "extract": extract,
                "profile": profile,
                "model": model,
                "claims": claims,
                "prompts": prompts,
                "snapshot": snapshot,
            }
            enriched = sync.run(_enriched(run, names, settings, concurrency, words))
            enriched.summary["budget"] = run.calls.budget.summary()
            run.finish(enriched.dataset)
    if report is not None:
        write_evidence(enriched.dataset, Path(report), force=force)
    return enriched


async def _enriched(
    run: Run,
    names: tuple[list[str], list[str]],
    settings: Settings,
    concurrency: int,
    words: JsonObject,
) -> Enrichment:
    async with open_doors(names[0], run.calls, factcheck=names[1], **words) as doors:
        if run.estimate:
            parts, facts = cost(run.dataset, doors, settings, run.calls)
            run.estimated(parts, facts=facts)
        journal = run.journal(**parameters(doors, settings))
        return await enrich_async(
            run.dataset,
            doors,
            settings,
            journal=journal,
            concurrency=concurrency,
            progress=run.progress,
        )


def _imported(
    file: Path,
    names: Sequence[str],
    profile: str | None,
    output: str | Path | None,
    *,
    limit: int | None,
    force: bool,
) -> Enrichment:
    if names or profile:
        raise UsageError(
            f"'{file}' is a file of rows that are enriched already; they are read, and nothing is"
            " asked.",
            "Leave out `provider`, `factcheck` and `profile`, or give a dataset folder.",
        )
    with Run("enrich", None, output, reads=[file], force=force) as run:
        enriched = read_enriched(file, limit=limit)
        run.finish(enriched.dataset)
    return enriched


def _settings(
    rule: str, correspondence: str, results: int, as_of: str | None, country: Sequence[str]
) -> Settings:
    if as_of is not None and as_of != CLAIM_DATE:
        try:
            date.fromisoformat(as_of)
        except ValueError:
            todo = "Pass `as_of` as 'claim-date', or as a day: YYYY-MM-DD."
            raise UsageError(f"'{as_of}' is not a day.", todo) from None
    rules = query.check_rule(rule), correspondences.check_rule(correspondence)
    return Settings(*rules, results, as_of, read_countries(country))


def _names(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _require(web: Sequence[str]) -> None:
    if not web:
        raise UsageError(
            "No search provider given.", "Pass `provider`, such as local:FOLDER or searxng."
        )
