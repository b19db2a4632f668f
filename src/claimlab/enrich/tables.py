"""The side tables that an enriched dataset carries: evidence, claims, enrichment, pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

import polars as pl

from claimlab.core.record import SIDE_TABLES, meta_json, to_side_table
from claimlab.core.types import JsonObject
from claimlab.enrich.flow import Enriched
from claimlab.search.evidence import Evidence
from claimlab.text.urls import registrable_domain

EVIDENCE = {
    **SIDE_TABLES["evidence"],
    "stage": pl.String(),  # query | claim | factcheck-query | factcheck-claim
    "correspondence": pl.Float64(),  # share of the words asked for that the snippet holds
    "corresponds": pl.Boolean(),  # that share is enough, by the rule of the run
    "as_of": pl.String(),  # before | undated | claim-undated; null when no day was set
    "filtered": pl.Boolean(),  # social media: the filtered reading leaves it out
    "guard_factcheck": pl.Boolean(),
    "guard_own_source": pl.Boolean(),
    "guard_copy": pl.Boolean(),
}
ENRICHMENT = {
    "record_id": pl.String(),
    "outcome": pl.String(),
    "outcome_filtered": pl.String(),
    "query": pl.String(),
    "query_how": pl.String(),
    "needed_extraction": pl.Boolean(),
    "no_claim": pl.Boolean(),  # the extractor found no claim in the text
    "newer": pl.Int64(),
    "undated": pl.Int64(),
    "failures": pl.String(),
}
PAGES = {
    "sha256": pl.String(),
    "url": pl.String(),
    "final_url": pl.String(),
    "title": pl.String(),
    "text": pl.String(),
    "published": pl.Datetime("us"),
    "retrieved": pl.Datetime("us"),
}
MARKS = (
    "corresponds",
    "as_of",
    "filtered",
    "guard_factcheck",
    "guard_own_source",
    "guard_copy",
    "stage",
)


def tables_of(
    done: Sequence[Enriched], before: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """The tables of an enriched dataset. Evidence and claims that stood there before stay, in
    front.
    """
    tables = dict(before)
    tables["evidence"] = _behind(before.get("evidence"), evidence_rows(done))
    tables["claims"] = _behind(before.get("claims"), claim_rows(done))
    tables["enrichment"] = pl.DataFrame([_line(d) for d in done], schema=ENRICHMENT, orient="row")
    pages = {sha: page for d in done for sha, page in d.pages.items()}
    if pages:
        rows = [_page(page) for _, page in sorted(pages.items())]
        tables["pages"] = pl.DataFrame(rows, schema=PAGES, orient="row")
    return tables


def evidence_rows(done: Sequence[Enriched]) -> pl.DataFrame:
    rows = []
    for one in done:
        for rank, held in enumerate(one.evidence, 1):
            piece = Evidence.from_json(held["evidence"])
            marks = {name: held[name] for name in MARKS}
            rows.append(
                {
                    **piece.row(one.record_id, rank, registrable_domain),
                    **marks,
                    "correspondence": held["share"],
                }
            )
    return to_side_table("evidence", pl.DataFrame(rows, schema=EVIDENCE, orient="row"))


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
    return {
        "record_id": one.record_id,
        "outcome": one.outcome,
        "outcome_filtered": one.outcome_filtered,
        "query": one.query,
        "query_how": one.how,
        "needed_extraction": one.needed_extraction if one.query is not None else None,
        "no_claim": (
            one.no_claim if one.needed_extraction and (one.claims or one.no_claim) else None
        ),
        "newer": one.newer,
        "undated": one.undated,
        "failures": (
            json.dumps(one.failures, ensure_ascii=False, sort_keys=True) if one.failures else None
        ),
    }


def _page(raw: JsonObject) -> JsonObject:
    times = {
        k: datetime.fromisoformat(raw[k]) if raw[k] else None for k in ("published", "retrieved")
    }
    return {**{k: raw[k] for k in PAGES if k not in times}, **times}


def _behind(before: pl.DataFrame | None, new: pl.DataFrame) -> pl.DataFrame:
    return (
        new
        if before is None or not before.height
        else pl.concat([before, new], how="diagonal_relaxed")
    )
