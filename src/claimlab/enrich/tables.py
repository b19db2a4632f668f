"""The tables of an enriched dataset: evidence, claims, enrichment, pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

import polars as pl

from claimlab.core.record import SIDE_TABLES, meta_json, to_side_table
from claimlab.core.record import tables_of as columns_of
from claimlab.core.types import JsonObject
from claimlab.enrich.flow import Enriched
from claimlab.search.evidence import Evidence
from claimlab.text.urls import registrable_domain

# The stance of a fact-check that corresponds is what its rating says of the claim. Of other texts
# it is not measured: sentence vectors do not know it (bench/stance_truth.py).
BY_RATING = {"true": "supports", "false": "refutes"}
_TABLES = columns_of("claimlab.enrich")
EVIDENCE = SIDE_TABLES["evidence"] | _TABLES["evidence"]
ENRICHMENT, PAGES = _TABLES["enrichment"], _TABLES["pages"]


def tables_of(
    enriched: Sequence[Enriched], before: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """The tables of an enriched dataset. Evidence and claims that stood there before stay, in
    front.
    """
    tables = dict(before)
    for name, new in (("evidence", evidence_rows(enriched)), ("claims", claim_rows(enriched))):
        old = before.get(name)
        both = [old, new] if old is not None and old.height else [new]
        tables[name] = pl.concat(both, how="diagonal_relaxed")
    tables["enrichment"] = pl.DataFrame(
        [_enrichment_row(record) for record in enriched], schema=ENRICHMENT, orient="row"
    )
    pages = {sha256: page for record in enriched for sha256, page in record.pages.items()}
    if pages:
        rows = [_page_row(page) for _, page in sorted(pages.items())]
        tables["pages"] = pl.DataFrame(rows, schema=PAGES, orient="row")
    return tables


def evidence_rows(enriched: Sequence[Enriched]) -> pl.DataFrame:
    rows = [
        {
            **Evidence.from_json(piece["evidence"]).row(record.record_id, rank, registrable_domain),
            **{name: value for name, value in piece.items() if name in EVIDENCE},
            "correspondence": piece["share"],
        }
        for record in enriched
        for rank, piece in enumerate(record.evidence, 1)
    ]
    for row in rows:
        row["stance"] = BY_RATING.get(row["verdict"]) if row["corresponds"] else None
    return to_side_table("evidence", pl.DataFrame(rows, schema=EVIDENCE, orient="row"))


def rated_sites(evidence: pl.DataFrame, sites: Mapping[str, str]) -> pl.DataFrame:
    """The evidence with the user's level of each site's reliability; null where none is given."""
    level = pl.col("domain").replace_strict(dict(sites), default=None, return_dtype=pl.String)
    return evidence.with_columns(site_level=level)


def claim_rows(enriched: Sequence[Enriched]) -> pl.DataFrame:
    rows = [
        {
            "record_id": record.record_id,
            "claim_id": f"{record.record_id}#{number}",
            "text": claim,
            "method": record.method,
            "meta": meta_json(record.claim_meta),
        }
        for record in enriched
        for number, claim in enumerate(record.claims, 1)
    ]
    return pl.DataFrame(rows, schema=SIDE_TABLES["claims"], orient="row")


def _enrichment_row(record: Enriched) -> JsonObject:
    extracted = record.needed_extraction and (record.claims or record.no_claim)
    failures = json.dumps(record.failures, ensure_ascii=False, sort_keys=True)
    return {
        **{name: value for name, value in vars(record).items() if name in ENRICHMENT},
        "query_how": record.how,
        "needed_extraction": record.needed_extraction if record.query is not None else None,
        "no_claim": record.no_claim if extracted else None,
        "failures": failures if record.failures else None,
    }


def _page_row(raw: JsonObject) -> JsonObject:
    times = {
        name: datetime.fromisoformat(raw[name]) if raw[name] else None
        for name in ("published", "retrieved")
    }
    return {**{name: raw[name] for name in PAGES}, **times}
