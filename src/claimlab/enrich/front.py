"""`cl.enrich` and `claimlab enrich`: the claim, dated evidence and existing fact-checks for every
record.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from claimlab.core import sync
from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.guard import refuse_taken
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.enrich import correspondence as correspondences
from claimlab.enrich import query
from claimlab.enrich.cost import estimate
from claimlab.enrich.flow import CLAIM_DATE, Settings
from claimlab.enrich.imported import read_enriched
from claimlab.enrich.open import open_doors, read_countries
from claimlab.enrich.run import CONCURRENCY, Enrichment, enrich_async, parameters
from claimlab.enrich.views import KIND, write_evidence
from claimlab.llm.prompts import Given


@repeatable("report")
def enrich(
    data: Source,
    provider: str | Sequence[str] = (),
    *,
    output: str | Path | None = None,
    factcheck: str | Sequence[str] = (),
    extract: str = "offline",
    profile: str | None = None,
    model: str | None = None,
    claims: int = 1,
    prompts: Given = (),
    query_rule: str = "paper",
    correspondence: str = "paper",
    results: int = 5,
    as_of: str | None = None,
    country: Sequence[str] = (),
    snapshot: bool = False,
    report: str | Path | None = None,
    cache: str | Path | None = None,
    mode: str = "record",
    batch: bool = False,
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    concurrency: int = CONCURRENCY,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Enrichment:
    """Attach the claim, dated evidence and fact-checks to every record.

    `provider` and `factcheck` name search providers, each the fallback of the one before: "brave",
    "local:FOLDER". `extract` says who finds the claim: "offline", "model" (then `profile` names
    it), "first-sentence" or "none". `as_of` drops newer evidence: "claim-date", or one day for all.
    With `output`, the result is written there; what is finished is kept, so that the same call goes
    on after a stop, and the caps hold over all its starts. `data` may be a file of rows that were
    enriched elsewhere, too: they are read, and nothing is asked.
    """
    names = _names(provider), _names(factcheck)
    if report is not None:
        refuse_taken(Path(report), force=force, kind=KIND, reads=_reads(data))
    if not isinstance(data, Dataset) and Path(data).is_file():
        enriched = _imported(
            Path(data), [*names[0], *names[1]], profile, output, limit=limit, force=force
        )
    else:
        settings = _settings(query_rule, correspondence, results, as_of, country)
        _require(names[0])
        caps = Caps(max_cost, max_calls, max_tokens)
        with Run(
            "enrich",
            data,
            output,
            limit=limit,
            force=force,
            caps=caps,
            mode=mode,
            cache=cache,
            batch=batch,
            progress=progress,
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


@same_arguments(enrich)
def estimate_enrich(call: Arguments) -> JsonObject:
    """The least and the most that `enrich` with the same arguments can take. No key is needed, and
    nothing is asked.
    """
    provider, factcheck = _names(call.provider), _names(call.factcheck)
    _require(provider)
    settings = Settings(query.check_rule(call.query_rule))
    with Run(
        "enrich",
        call.data,
        call.output,
        limit=call.limit,
        mode=call.mode,
        cache=call.cache,
        estimate=True,
    ) as run:

        async def whole() -> JsonObject:
            async with open_doors(
                provider,
                run.calls,
                factcheck=factcheck,
                extract=call.extract,
                profile=call.profile,
                model=call.model,
                claims=call.claims,
                prompts=call.prompts,
            ) as doors:
                return estimate(run.dataset, doors, settings, run.calls)

        return sync.run(whole())


async def _enriched(
    run: Run,
    names: tuple[list[str], list[str]],
    settings: Settings,
    concurrency: int,
    words: JsonObject,
) -> Enrichment:
    async with open_doors(names[0], run.calls, factcheck=names[1], **words) as doors:
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


def _reads(data: Source) -> list[Path]:
    if isinstance(data, Dataset):
        return [data.path] if data.path is not None else []
    return [Path(data)]
