"""A whole dataset through the flow: many records at once, each end counted, tables and lineage out.

The same answers give the same bytes: rows are in the order of the records, the lineage holds no
time and no spending, and times of retrieval come from the recording.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
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
from claimlab.enrich.flow import OUTCOMES, Doors, Enriched, Settings, enrich_record
from claimlab.enrich.query import QueryText, make_queries, prepared
from claimlab.enrich.tables import tables_of

CONCURRENCY = 16
SHARD = 16  # records in one file of the journal


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
    settings: Settings | None = None,
    *,
    journal: Journal | None = None,
    concurrency: int = CONCURRENCY,
    progress: Progress = silent,
) -> Enrichment:
    """`dataset` with the tables evidence, claims, enrichment (and pages). Errors that no further
    call can get past (a spent budget, a replay without the call) are raised after the records under
    way are finished and noted.
    """
    chosen = settings or Settings()
    done = await _all(dataset, doors, chosen, journal or Journal(None, {}), concurrency, progress)
    step = Lineage(
        step="enrich",
        parameters=parameters(doors, chosen),
        inputs={"records": dataset.digest()},
        counts=_outcomes(done),
    )
    tables = tables_of(done, dataset.tables)
    return Enrichment(dataset.derive(dataset.records, step, tables), summarise(done))


def parameters(doors: Doors, settings: Settings) -> JsonObject:
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
    }


def summarise(done: list[Enriched]) -> JsonObject:
    """Every end, every failure and what was set aside, counted."""
    searched = [d for d in done if d.query is not None]
    failures = Counter(f"{f['stage']}: {f['kind']}" for d in done for f in d.failures)
    pages = Counter(
        e["evidence"]["more"]["page_failure"]
        for d in done
        for e in d.evidence
        if "page_failure" in e["evidence"]["more"]
    )
    return {
        "records": len(done),
        "outcomes": _outcomes(done),
        "outcomes_filtered": _outcomes(done, "outcome_filtered"),
        "needed_extraction": sum(d.needed_extraction for d in searched),
        "extracted": sum(bool(d.claims) for d in searched),
        "no_claim": sum(d.no_claim for d in searched),
        "methods": dict(sorted(Counter(d.method for d in searched if d.method).items())),
        "standing": sorted(
            {str(d.claim_meta["standing"]) for d in searched if d.claim_meta.get("standing")}
        ),
        "queries": dict(sorted(Counter(d.how for d in searched).items(), key=str)),
        "evidence": sum(len(d.evidence) for d in done),
        "newer_than_claim": sum(d.newer for d in done),
        "undated": sum(d.undated for d in done),
        "failures": dict(sorted(failures.items())),
        "pages": sum(len(d.pages) for d in done),
        "pages_refused": dict(sorted(pages.items())),
    }


def _outcomes(done: list[Enriched], which: str = "outcome") -> dict[str, int]:
    tally = Counter(getattr(d, which) for d in done)
    return {name: tally[name] for name in OUTCOMES}


async def _all(
    dataset: Dataset,
    doors: Doors,
    settings: Settings,
    journal: Journal,
    concurrency: int,
    progress: Progress,
) -> list[Enriched]:
    """What became of every record, in their order; what an earlier start finished is not done
    again.
    """
    rows = dataset.records
    texts, queries = (
        prepared(rows["text"], settings.query_rule),
        make_queries(rows["text"], settings.query_rule),
    )
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
            return Enriched(row["id"], "failed", "failed", failures=[_crash(reason)])

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
        self._journal = journal
        self._shard = {record: number // SHARD for number, record in enumerate(ids)}
        self._members: dict[int, JsonObject] = {}
        self.done: dict[str, Enriched] = {}
        for number in sorted(set(self._shard.values())):
            for raw in (journal.read(f"{number:06d}") or {}).values():
                enriched = Enriched.from_json(raw)
                if enriched.outcome != "failed" and enriched.record_id in self._shard:
                    self.done[enriched.record_id] = enriched
                    self._members.setdefault(number, {})[enriched.record_id] = raw

    def add(self, enriched: Enriched) -> None:
        self.done[enriched.record_id] = enriched
        number = self._shard[enriched.record_id]
        members = self._members.setdefault(number, {})
        members[enriched.record_id] = enriched.to_json()
        self._journal.write(f"{number:06d}", members)


def _crash(reason: str) -> JsonObject:
    return {"stage": "flow", "kind": "crash", "reason": reason}


def _with_country(row: JsonObject) -> JsonObject:
    """The record with the country that its own notes name, if they do."""
    if not row["meta"] or '"country"' not in row["meta"]:
        return row
    try:
        country = json.loads(row["meta"]).get("country")
    except (ValueError, AttributeError):
        return row
    return {**row, "country": country} if isinstance(country, str) and len(country) == 2 else row
