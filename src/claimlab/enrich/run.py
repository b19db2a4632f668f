"""A whole dataset through the flow: many records at once, each end counted, and the side tables
that an enriched dataset carries: evidence, claims, enrichment, pages.

The same answers give the same bytes: rows are in the order of the records, the lineage holds no
time and no spending, and times of retrieval come from the recording.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

import polars as pl

from claimlab.core.calls.pool import each
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import ClaimlabError
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress, silent
from claimlab.core.record import SIDE_TABLES, meta_json, to_side_table
from claimlab.core.record import tables_of as columns_of
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.enrich.correspondence import Rarity
from claimlab.enrich.flow import OUTCOMES, Doors, Enriched, EnrichSettings, enrich_record
from claimlab.enrich.query import QueryText, make_queries, prepared
from claimlab.search.evidence import Evidence
from claimlab.text.urls import registrable_domain

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
    done = await _all(dataset, doors, chosen, journal or Journal(None, {}), concurrency, progress)
    step = Lineage(
        step="enrich",
        parameters=parameters(doors, chosen),
        inputs={"records": dataset.digest()},
        counts=_outcomes(done),
    )
    tables = tables_of(done, dataset.tables)
    if chosen.sites:
        tables["evidence"] = rated_sites(tables["evidence"], chosen.sites)
    return Enrichment(dataset.derive(dataset.records, step, tables), summarise(done))


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


def summarise(done: Sequence[Enriched]) -> JsonObject:
    """Every end, every failure and what was set aside, counted."""
    pieces = [piece["evidence"]["more"] for one in done for piece in one.evidence]
    failures = [failure for one in done for failure in one.failures]
    return {
        "records": len(done),
        "outcomes": _outcomes(done),
        "outcomes_filtered": _outcomes(done, "outcome_filtered"),
        **_extractions([one for one in done if one.query is not None]),
        "evidence": len(pieces),
        "newer_than_claim": sum(one.newer for one in done),
        "undated": sum(one.undated for one in done),
        "failures": _tally(f"{failure['stage']}: {failure['kind']}" for failure in failures),
        "pages": sum(len(one.pages) for one in done),
        "pages_refused": _tally(more["page_failure"] for more in pieces if "page_failure" in more),
    }


def _extractions(searched: Sequence[Enriched]) -> JsonObject:
    """What came of the claims of the records that were searched for."""
    standing = {one.claim_meta.get("standing") for one in searched}
    return {
        "needed_extraction": sum(one.needed_extraction for one in searched),
        "extracted": sum(bool(one.claims) for one in searched),
        "no_claim": sum(one.no_claim for one in searched),
        "methods": _tally(one.method for one in searched if one.method),
        "standing": sorted(str(caveat) for caveat in standing if caveat),
        "queries": dict(sorted(Counter(one.how for one in searched).items(), key=str)),
    }


def _tally(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _outcomes(done: Sequence[Enriched], which: str = "outcome") -> dict[str, int]:
    tally = Counter(getattr(one, which) for one in done)
    return {name: tally[name] for name in OUTCOMES}


async def _all(
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
        self._shard = {record: number // SHARD for number, record in enumerate(ids)}
        self.done: dict[str, Enriched] = {}
        for number in sorted(set(self._shard.values())):
            for raw in (journal.read(f"{number:06d}") or {}).values():
                if raw["outcome"] != "failed" and raw["record_id"] in self._shard:
                    self.done[raw["record_id"]] = Enriched(**raw)

    def add(self, enriched: Enriched) -> None:
        self.done[enriched.record_id] = enriched
        number = self._shard[enriched.record_id]
        here = self._ids[number * SHARD : (number + 1) * SHARD]
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


# The stance of a fact-check that corresponds is what its rating says of the claim. Of other texts
# it is not measured: sentence vectors do not know it (bench/stance_truth.py).
BY_RATING = {"true": "supports", "false": "refutes"}
_TABLES = columns_of("claimlab.enrich")
EVIDENCE = SIDE_TABLES["evidence"] | _TABLES["evidence"]
ENRICHMENT, PAGES = _TABLES["enrichment"], _TABLES["pages"]


def tables_of(
    done: Sequence[Enriched], before: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """The tables of an enriched dataset. Evidence and claims that stood there before stay, in
    front.
    """
    tables = dict(before)
    for name, new in (("evidence", evidence_rows(done)), ("claims", claim_rows(done))):
        old = before.get(name)
        both = [old, new] if old is not None and old.height else [new]
        tables[name] = pl.concat(both, how="diagonal_relaxed")
    tables["enrichment"] = pl.DataFrame(
        [_line(one) for one in done], schema=ENRICHMENT, orient="row"
    )
    pages = {sha256: page for one in done for sha256, page in one.pages.items()}
    if pages:
        rows = [_page(page) for _, page in sorted(pages.items())]
        tables["pages"] = pl.DataFrame(rows, schema=PAGES, orient="row")
    return tables


def evidence_rows(done: Sequence[Enriched]) -> pl.DataFrame:
    rows = [
        {
            **Evidence.from_json(piece["evidence"]).row(one.record_id, rank, registrable_domain),
            **{name: value for name, value in piece.items() if name in EVIDENCE},
            "correspondence": piece["share"],
        }
        for one in done
        for rank, piece in enumerate(one.evidence, 1)
    ]
    for row in rows:
        row["stance"] = BY_RATING.get(row["verdict"]) if row["corresponds"] else None
    return to_side_table("evidence", pl.DataFrame(rows, schema=EVIDENCE, orient="row"))


def rated_sites(evidence: pl.DataFrame, sites: Mapping[str, str]) -> pl.DataFrame:
    """The evidence with the user's level of each site's reliability; null where none is given."""
    level = pl.col("domain").replace_strict(dict(sites), default=None, return_dtype=pl.String)
    return evidence.with_columns(site_level=level)


def claim_rows(done: Sequence[Enriched]) -> pl.DataFrame:
    rows = [
        {
            "record_id": one.record_id,
            "claim_id": f"{one.record_id}#{number}",
            "text": claim,
            "method": one.method,
            "meta": meta_json(one.claim_meta),
        }
        for one in done
        for number, claim in enumerate(one.claims, 1)
    ]
    return pl.DataFrame(rows, schema=SIDE_TABLES["claims"], orient="row")


def _line(one: Enriched) -> JsonObject:
    extracted = one.needed_extraction and (one.claims or one.no_claim)
    failures = json.dumps(one.failures, ensure_ascii=False, sort_keys=True)
    return {
        **{name: value for name, value in vars(one).items() if name in ENRICHMENT},
        "query_how": one.how,
        "needed_extraction": one.needed_extraction if one.query is not None else None,
        "no_claim": one.no_claim if extracted else None,
        "failures": failures if one.failures else None,
    }


def _page(raw: JsonObject) -> JsonObject:
    times = {
        name: datetime.fromisoformat(raw[name]) if raw[name] else None
        for name in ("published", "retrieved")
    }
    return {**{name: raw[name] for name in PAGES}, **times}
