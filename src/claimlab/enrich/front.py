"""`cl.enrich` and `claimlab enrich`: the claim, dated evidence and existing fact-checks for every
record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Unpack

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.choices import each_of, one_of
from claimlab.core.errors import DataError, UsageError
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
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.toml_file import read_raw_toml
from claimlab.enrich.correspondence import RULES as CORRESPONDENCE
from claimlab.enrich.cost import cost
from claimlab.enrich.doors import open_doors
from claimlab.enrich.flow import CLAIM_DATE, EnrichSettings
from claimlab.enrich.query import RULES
from claimlab.enrich.run import CONCURRENCY, Enrichment, enrich_async, parameters
from claimlab.enrich.views import KIND, write_evidence
from claimlab.text.urls import registrable_domain


def read_countries(items: Sequence[str]) -> Mapping[str, str]:
    """Countries by language from BR (any language) or por=BR, as often as needed."""
    from claimlab.core.languages import require

    countries = {}
    for item in items:
        language, _, country = item.rpartition("=")
        if len(country) != 2 or not country.isalpha():
            raise UsageError(
                f"'{item}' is not a country.", "Write `country` as BR, or por=BR for one language."
            )
        countries[require(language) if language else "*"] = country.upper()
    return countries


def read_sites(file: Path) -> Mapping[str, str]:
    """Levels of reliability by site, from the user's TOML: any words, a site each."""
    raw = read_raw_toml(file)
    levels = {registrable_domain(site) or site: level for site, level in raw.items()}
    if not levels or not all(isinstance(level, str) for level in levels.values()):
        raise DataError(
            f"'{file}' does not give each site a level.",
            "Write a line for each site, such as: 'example.org' = 'high'.",
        )
    return levels


@repeatable("report")
def enrich(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
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
        str, Option("Who finds the claim: 'offline', 'model', 'first-sentence' or 'none'.")
    ] = "offline",
    profile: Profile = None,
    model: ModelName = None,
    claims: Annotated[int, Setting("Most claims to extract from one text.", least=1, most=10)] = 1,
    prompts: PromptFiles = (),
    words: Annotated[
        bool, Setting("Search a local index by words alone, without sentence vectors.")
    ] = False,
    query_rule: Annotated[str, Setting("How queries are made: 'paper' or 'released'.")] = "paper",
    correspondence: Annotated[
        str, Setting("What corresponds: 'measured', 'paper' (0.8 or more), 'released' (above 0.8).")
    ] = "measured",
    results: Annotated[int, Setting("Results of a search to keep.", least=1, most=100)] = 5,
    as_of: Annotated[
        str | None, Option("Drop newer evidence: 'claim-date', or one day (YYYY-MM-DD) for all.")
    ] = None,
    country: Annotated[
        Sequence[str], Setting("BR, or por=BR for one language; may be repeated.")
    ] = (),
    sites: Annotated[
        Place | None, Setting("TOML file with your level of each site: 'site.org' = 'high'.")
    ] = None,
    snapshot: Annotated[bool, Setting("Store the text of the pages that were found.")] = False,
    report: Annotated[
        Place | None, Option("Folder for a page of outcomes, domains, ratings and patterns.")
    ] = None,
    concurrency: Concurrency = CONCURRENCY,
    limit: Limit = None,
    force: Force = False,
    **calls: Unpack[BatchOptions],
) -> Enrichment:
    """Attach the claim, dated evidence and fact-checks to every record; stop, resume and replay.

    What is finished is kept, so that the same call goes on after a stop, and the caps hold over all
    its starts.
    """
    names = each_of(provider), each_of(factcheck)
    if report is not None:
        refuse_taken(Path(report), force=force, kind=KIND, reads=folders_of(data))
    if as_of is not None and as_of != CLAIM_DATE:
        try:
            date.fromisoformat(as_of)
        except ValueError:
            todo = "Pass `as_of` as 'claim-date', or as a day: YYYY-MM-DD."
            raise UsageError(f"'{as_of}' is not a day.", todo) from None
    settings = EnrichSettings(
        one_of(RULES, query_rule, "query_rule"),
        one_of(CORRESPONDENCE, correspondence, "correspondence"),
        results,
        as_of,
        read_countries(country),
        {} if sites is None else read_sites(Path(sites)),
    )
    if not names[0]:
        raise UsageError(
            "No search provider given.", "Pass `provider`, such as local:FOLDER or searxng."
        )
    with Run("enrich", data, output, limit=limit, force=force, **calls) as run:

        async def enriching() -> Enrichment:
            async with open_doors(
                names[0],
                run.calls,
                factcheck=names[1],
                extract=extract,
                profile=profile,
                model=model,
                claims=claims,
                prompts=prompts,
                snapshot=snapshot,
                words=words,
            ) as doors:
                if run.estimate:
                    parts, facts = cost(run.dataset, doors, settings, run.calls)
                    run.estimated(parts, facts=facts)
                return await enrich_async(
                    run.dataset,
                    doors,
                    settings,
                    journal=run.journal(**parameters(doors, settings)),
                    concurrency=concurrency,
                    progress=run.progress,
                )

        enriched = sync.run(enriching())
        enriched.summary["budget"] = run.calls.budget.summary()
        run.finish(enriched.dataset)
    if report is not None:
        write_evidence(enriched.dataset, Path(report), force=force)
    return enriched
