"""A whole dataset through the flow: many records at once, each end counted, tables and lineage out.

The same answers give the same bytes: rows stand in the order of the records, the lineage holds no time and no spending,
and times of retrieval come from the recording.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from claimlab.core import sync
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import ClaimlabError
from claimlab.core.progress import Progress, silent
from claimlab.enrich.flow import OUTCOMES, Doors, Enriched, Settings, enrich_record
from claimlab.enrich.journal import Journal
from claimlab.enrich.query import make_queries, prepared
from claimlab.enrich.tables import tables_of
from claimlab.search.query import Query
from claimlab.search.results import Provider, Results

CONCURRENCY = 16


@dataclass
class Enrichment:
    """The enriched dataset, and what became of the records."""

    dataset: Dataset
    summary: dict[str, Any]


def enrich(
    dataset: Dataset,
    doors: Doors,
    settings: Settings | None = None,
    *,
    journal: Journal | None = None,
    concurrency: int = CONCURRENCY,
    progress: Progress = silent,
) -> Enrichment:
    """`dataset` with the tables evidence, claims, enrichment (and pages). Errors that no further call can get past (a
    spent budget, a replay without the call) are raised after the records under way are finished and noted."""
    return sync.run(enrich_async(dataset, doors, settings, journal=journal, concurrency=concurrency, progress=progress))


async def enrich_async(
    dataset: Dataset,
    doors: Doors,
    settings: Settings | None = None,
    *,
    journal: Journal | None = None,
    concurrency: int = CONCURRENCY,
    progress: Progress = silent,
) -> Enrichment:
    chosen = settings or Settings()
    work = _Work(dataset, doors, chosen, journal, progress)
    done = await work.run(concurrency)
    step = Lineage(
        step="enrich",
        parameters=parameters(doors, chosen),
        inputs={"records": dataset.digest()},
        counts=_outcomes(done),
    )
    tables = tables_of(done, dataset.tables)
    return Enrichment(dataset.derive(dataset.records, step, tables), summarise(done))


def parameters(doors: Doors, settings: Settings) -> dict[str, Any]:
    """What decides the result, JSON-safe: goes into the lineage and marks the journal."""
    extractor = doors.extractor
    return {
        **{k: v for k, v in asdict(settings).items() if v},
        "web": {doors.web.name: doors.web.parameters()},
        "factcheck": {doors.factcheck.name: doors.factcheck.parameters()} if doors.factcheck else None,
        "extract": {extractor.name: extractor.parameters()} if extractor else None,
        "snapshot": doors.pages is not None,
    }


def summarise(done: list[Enriched]) -> dict[str, Any]:
    """Every end, every failure and what was set aside, counted."""
    asked = [d for d in done if d.query is not None]
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
        "needed_extraction": sum(d.needed_extraction for d in asked),
        "extracted": sum(bool(d.claims) for d in asked),
        "methods": dict(sorted(Counter(d.method for d in asked if d.method).items())),
        "standing": sorted({str(d.claim_meta["standing"]) for d in asked if d.claim_meta.get("standing")}),
        "queries": dict(sorted(Counter(d.how for d in asked).items(), key=str)),
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


class _Work:
    """The records that are left to do, and the workers that do them."""

    def __init__(
        self, dataset: Dataset, doors: Doors, settings: Settings, journal: Journal | None, progress: Progress
    ) -> None:
        self.rows = dataset.records
        factcheck = Turns(doors.factcheck) if doors.factcheck else None
        self.doors = Doors(Turns(doors.web), factcheck, doors.extractor, doors.pages)
        self.settings, self.journal, self.progress = settings, journal, progress
        self.done: dict[str, Enriched] = {}
        self.stopped: list[ClaimlabError] = []

    async def run(self, concurrency: int) -> list[Enriched]:
        texts = prepared(self.rows["text"], self.settings.query_rule)
        queries = make_queries(self.rows["text"], self.settings.query_rule)
        if self.journal is not None:
            self.done = {i: d for i, d in self.journal.finished().items() if i in set(self.rows["id"].to_list())}
        line = iter(zip(self.rows.iter_rows(named=True), texts, queries, strict=True))

        async def work() -> None:
            for row, text, query in line:
                if self.stopped:
                    return
                if row["id"] not in self.done:
                    await self._one(_with_country(row), text, query)

        try:
            await asyncio.gather(*(work() for _ in range(max(1, concurrency))))
        finally:
            if self.journal is not None:
                self.journal.close(complete=False)
        if self.stopped:
            raise self.stopped[0]
        return [self.done[i] for i in self.rows["id"].to_list()]

    async def _one(self, row: Mapping[str, Any], text: str | None, query: Any) -> None:
        try:
            done = await enrich_record(row, text, query, self.doors, self.settings)
        except ClaimlabError as error:  # nothing further can be asked; what is under way goes on
            self.stopped.append(error)
            return
        except Exception as error:  # one failing record never stops the others
            done = Enriched(row["id"], "failed", "failed")
            done.failures.append({"stage": "flow", "kind": "crash", "reason": f"{type(error).__name__}: {error}"})
        self.done[row["id"]] = done
        if self.journal is not None:
            self.journal.add(done)
        self.progress("enriching", len(self.done), self.rows.height)


@dataclass
class Turns:
    """A provider that is not asked the same thing twice at once: the second asks when the first answer is recorded."""

    provider: Provider
    _locks: dict[str, tuple[asyncio.Lock, int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.provider.name

    def parameters(self) -> dict[str, Any]:
        return self.provider.parameters()

    async def search(self, query: Query) -> Results:
        key = json.dumps(query.as_json(), sort_keys=True)
        lock, users = self._locks.get(key) or (asyncio.Lock(), 0)
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                return await self.provider.search(query)
        finally:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = (lock, users - 1)


def _with_country(row: dict[str, Any]) -> dict[str, Any]:
    """The record with the country that its own notes name, if they do."""
    if not row["meta"] or '"country"' not in row["meta"]:
        return row
    try:
        country = json.loads(row["meta"]).get("country")
    except (ValueError, AttributeError):
        return row
    return {**row, "country": country} if isinstance(country, str) and len(country) == 2 else row
