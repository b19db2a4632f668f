"""A whole dataset through the flow: many records at once, each end counted.

The same answers give the same bytes: rows are in the order of the records, the lineage holds no
time and no spending, and times of retrieval come from the recording.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl

from claimlab.core.calls.pool import each
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import ClaimlabError
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress, silent
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.enrich.correspondence import Rarity
from claimlab.enrich.flow import (
    NOT_MEASURED,
    OUTCOMES,
    Doors,
    Enriched,
    EnrichSettings,
    enrich_record,
)
from claimlab.enrich.query import QueryText, make_queries, prepared
from claimlab.enrich.tables import rated_sites, tables_of
from claimlab.text.vectors import by_words_only

CONCURRENCY = 16
RECORDS_IN_SHARD = 16  # records in one file of the journal


@dataclass(repr=False)
class Enrichment(Shown):
    """The enriched dataset, and what became of the records."""

    dataset: Dataset
    summary: JsonObject

    @property
    def table(self) -> pl.DataFrame:
        """What became of each record."""
        return self.dataset.tables["enrichment"]

    def headline(self) -> str:
        outcomes = ", ".join(f"{name} {n:,}" for name, n in self.summary["outcomes"].items() if n)
        pieces = several(self.summary["evidence"], "piece")
        return f"of '{self.dataset.name}': {pieces} of evidence ({outcomes})"

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the dataset with its evidence."""
        self.dataset.write(folder, force=force)


async def enrich_async(
    dataset: Dataset,
    doors: Doors,
    settings: EnrichSettings | None = None,
    *,
    journal: Journal | None = None,
    concurrency: int = CONCURRENCY,
    progress: Progress = silent,
) -> Enrichment:
    """`dataset` with the tables evidence, claims, enrichment (and pages). Errors that no further
    call can get past (a spent budget, a replay without the call) are raised after the records under
    way are finished and noted.
    """
    chosen = settings or EnrichSettings()
    doors = replace(doors, rarity=Rarity(dataset.records["text"]))
    enriched = await enrich_all(
        dataset, doors, chosen, journal or Journal(None, {}), concurrency, progress
    )
    step = Lineage(
        step="enrich",
        parameters=parameters(doors, chosen),
        inputs={"records": dataset.digest()},
        counts=outcomes_of(enriched),
    )
    tables = tables_of(enriched, dataset.tables)
    if chosen.sites:
        tables["evidence"] = rated_sites(tables["evidence"], chosen.sites)
    summary = summarise(enriched)
    if doors.meaning is not None:
        searched = {record.record_id for record in enriched if record.query is not None}
        rows = dataset.records.filter(pl.col("id").is_in(searched))
        summary["not_measured"] = by_words_only(rows["language"])
    return Enrichment(dataset.derive(dataset.records, step, tables), summary)


def parameters(doors: Doors, settings: EnrichSettings) -> JsonObject:
    """What decides the result, JSON-safe: goes into the lineage and marks the journal."""
    extractor = doors.extractor
    return {
        **{k: v for k, v in asdict(settings).items() if v},
        "web": {doors.web.name: doors.web.parameters()},
        "factcheck": (
            {doors.factcheck.name: doors.factcheck.parameters()} if doors.factcheck else None
        ),
        "extract": {extractor.name: extractor.parameters()} if extractor else None,
        "snapshot": doors.pages is not None,
        "vectors": doors.meaning is not None,
    }


def summarise(enriched: Sequence[Enriched]) -> JsonObject:
    """Every end, every failure and what was set aside, counted."""
    pieces = [piece["evidence"]["more"] for record in enriched for piece in record.evidence]
    failures = [failure for record in enriched for failure in record.failures]
    return {
        "records": len(enriched),
        "outcomes": outcomes_of(enriched),
        "outcomes_filtered": outcomes_of(enriched, "outcome_filtered"),
        **_extractions([record for record in enriched if record.query is not None]),
        "evidence": len(pieces),
        "newer_than_claim": sum(record.newer for record in enriched),
        "undated": sum(record.undated for record in enriched),
        "failures": _tally(f"{failure['stage']}: {failure['kind']}" for failure in failures),
        "pages": sum(len(record.pages) for record in enriched),
        "pages_refused": _tally(more["page_failure"] for more in pieces if "page_failure" in more),
    }


def _extractions(searched: Sequence[Enriched]) -> JsonObject:
    """What came of the claims of the records that were searched for."""
    standing = {record.claim_meta.get("standing") for record in searched}
    return {
        "needed_extraction": sum(record.needed_extraction for record in searched),
        "extracted": sum(bool(record.claims) for record in searched),
        "no_claim": sum(record.no_claim for record in searched),
        "methods": _tally(record.method for record in searched if record.method),
        "standing": sorted(str(caveat) for caveat in standing if caveat),
        "queries": dict(sorted(Counter(record.how for record in searched).items(), key=str)),
    }


def _tally(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def outcomes_of(enriched: Sequence[Enriched], which: str = "outcome") -> dict[str, int]:
    tally = Counter(getattr(record, which) for record in enriched)
    # Only some languages have texts whose claims are not measured.
    return {name: tally[name] for name in OUTCOMES if tally[name] or name != NOT_MEASURED}


async def enrich_all(
    dataset: Dataset,
    doors: Doors,
    settings: EnrichSettings,
    journal: Journal,
    concurrency: int,
    progress: Progress,
) -> list[Enriched]:
    """What became of every record, in their order; what an earlier start finished is not done
    again.
    """
    rows = dataset.records
    texts = prepared(rows["text"], settings.query_rule)
    queries = make_queries(rows["text"], settings.query_rule)
    ids = rows["id"].to_list()
    shards = Shards(journal, ids)
    line = zip(rows.iter_rows(named=True), texts, queries, strict=True)

    async def work(record: tuple[JsonObject, str | None, QueryText | None]) -> Enriched:
        row, text, query = record
        try:
            return await enrich_record(_with_country(row), text, query, doors, settings)
        except ClaimlabError:
            raise
        except Exception as error:  # one failing record never stops the others
            reason = f"{type(error).__name__}: {error}"
            crash = {"stage": "flow", "kind": "crash", "reason": reason}
            return Enriched(row["id"], "failed", "failed", failures=[crash])

    left = (record for record in line if record[0]["id"] not in shards.done)
    pool = each(
        left,
        work,
        concurrency=concurrency,
        progress=progress,
        label="enriching",
        total=len(ids),
        before=len(shards.done),
    )
    async for _, enriched in pool:
        shards.add(enriched)
    return [shards.done[i] for i in ids]


class Shards:
    """The finished records. A shard is written again with each record that it gains, so that a
    killed run loses none. Failed records are not taken up, so that they are tried again."""

    def __init__(self, journal: Journal, ids: list[str]) -> None:
        self._journal, self._ids = journal, ids
        self._shard = {record: number // RECORDS_IN_SHARD for number, record in enumerate(ids)}
        self.done: dict[str, Enriched] = {}
        for number in sorted(set(self._shard.values())):
            for raw in (journal.read(f"{number:06d}") or {}).values():
                if raw["outcome"] != "failed" and raw["record_id"] in self._shard:
                    self.done[raw["record_id"]] = Enriched(**raw)

    def add(self, enriched: Enriched) -> None:
        self.done[enriched.record_id] = enriched
        number = self._shard[enriched.record_id]
        here = self._ids[number * RECORDS_IN_SHARD : (number + 1) * RECORDS_IN_SHARD]
        members = {record: dict(vars(self.done[record])) for record in here if record in self.done}
        self._journal.write(f"{number:06d}", members)


def _with_country(row: JsonObject) -> JsonObject:
    """The record with the country that its own notes name, if they do."""
    if not row["meta"] or '"country"' not in row["meta"]:
        return row
    try:
        country = json.loads(row["meta"]).get("country")
    except (ValueError, AttributeError):
        return row
    return {**row, "country": country} if isinstance(country, str) and len(country) == 2 else row
