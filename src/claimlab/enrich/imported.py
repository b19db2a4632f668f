"""Rows that were enriched elsewhere: the layout that the paper's notebooks write, read into a
claimlab dataset.

Fields of a row: text_no_url, old_split, new_split, label, initial_query, claim_query,
google_search_results (title, link, snippet, pagemap, match), google_fact_check_results (as
claims:search answers), near_duplicates, text_urls, metadata. Nothing of it is dropped: what has no
column of ours goes into `meta`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.digest import digest_file
from claimlab.core.errors import SchemaError, UnreadableFile
from claimlab.core.labels import general
from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.enrich.correspondence import Piece, marked, matches, shown_order, to_json
from claimlab.enrich.flow import Enriched
from claimlab.enrich.run import Enrichment, summarise, tables_of
from claimlab.search.claimreview import reviews_in
from claimlab.search.dates import NO_DATE, Dated, date_of
from claimlab.search.evidence import Evidence, Review
from claimlab.search.fields import address, mapping, text

NEEDED = ("text_no_url", "label")
KEPT = ("old_split", "near_duplicates", "text_urls", "metadata")
METHOD = "imported"
LAST = datetime(
    9998, 12, 31
)  # the rows do not say when they were fetched, so no date is refused as being in the future


def read_enriched(
    path: Path, *, language: str | None = None, limit: int | None = None
) -> Enrichment:
    """The rows of a JSON, JSON Lines or Parquet file as a dataset with evidence and claims."""
    rows = list(_rows(path))[:limit]
    missing = [name for name in NEEDED if not rows or name not in rows[0]]
    if missing:
        raise SchemaError(
            f"'{path.name}' has no {' and no '.join(missing)}: these are not the enriched rows of"
            " the paper.",
            "Read plain rows with claimlab import, then enrich them.",
        )
    name = path.stem
    records = [_record(row, f"{name}-{number}", language) for number, row in enumerate(rows, 1)]
    done = [_enriched(row, record) for row, record in zip(rows, records, strict=True)]
    unknown = sum(r["veracity"] is None for r in records)
    notes = (
        [
            f"{several(unknown, 'row')} {verb(unknown, 'has', 'have')} a label that the general map"
            " does not know."
        ]
        if unknown
        else []
    )
    step = Lineage(
        step="enrich",
        parameters={"imported": "enriched rows"},
        inputs={path.name: digest_file(path)},
    )
    frame = pl.DataFrame(records, infer_schema_length=None)
    tables = tables_of(done, {})
    fetched = pl.lit(None, pl.Datetime("us")).alias("retrieved")
    tables["evidence"] = tables["evidence"].with_columns(fetched)  # the time is unknown
    return Enrichment(
        Dataset.build(name, frame, tables, notes=notes, lineage=[step]), summarise(done)
    )


def _rows(path: Path) -> Iterator[JsonObject]:
    try:
        if path.suffix.lower() == ".parquet":
            yield from pl.read_parquet(path).iter_rows(named=True)
            return
        content = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            yield from (json.loads(line) for line in content.splitlines() if line.strip())
            return
        data = json.loads(content)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise UnreadableFile(
            f"'{path}' cannot be read: {error}.", "Give a JSON, JSON Lines or Parquet file."
        ) from None
    yield from data if isinstance(data, list) else [data]


def _record(row: JsonObject, number: str, language: str | None) -> JsonObject:
    label = None if row["label"] is None else str(row["label"])
    extra = {name: row.get(name) for name in KEPT}
    return {
        "id": number,
        "text": row["text_no_url"],
        "kind": "post",
        "label_raw": label,
        "veracity": general().verdict(label),
        "language": language,
        "split": row.get("new_split"),
        "meta": meta_json({k: v for k, v in extra.items() if v is not None}),
    }


def _enriched(row: JsonObject, record: JsonObject) -> Enriched:
    first, claim = text(row.get("initial_query")), text(row.get("claim_query"))
    query = claim or first or ""
    results = [mapping(item) for item in _list(row.get("google_search_results"))]
    checks = _list(row.get("google_fact_check_results"))
    pieces = shown_order(_pieces(results, checks, query, record["language"]), "paper")
    done = Enriched(
        record["id"],
        query=first,
        how=METHOD if first else None,
        needed_extraction=claim is not None,
        claims=[claim] if claim else [],
        method=METHOD if claim else None,
        evidence=[
            to_json(piece, marks, "paper")
            for piece, marks in zip(pieces, marked(record, pieces), strict=True)
        ],
    )
    if first:
        unmatched = "not-corresponding" if pieces else "nothing-found"
        matched = any(result.get("match") is True for result in results)
        done.outcome = done.outcome_filtered = "corresponding" if matched else unmatched
    return done


def _pieces(
    results: list[JsonObject], checks: list[JsonObject], query: str, language: str | None
) -> list[Piece]:
    stages = [(piece, "web") for item in results if (piece := _result(item, query))]
    stages += [(piece, "factcheck") for item in checks for piece in _check(item, query)]
    snippets = [piece.text or piece.title for piece, _ in stages]
    fits = matches(query, snippets, language) if query else [None] * len(stages)
    return [Piece(piece, stage, fit) for (piece, stage), fit in zip(stages, fits, strict=True)]


def _result(raw: JsonObject, query: str) -> Evidence | None:
    url = address(raw.get("link"))
    if url is None:
        return None
    page = mapping(raw.get("pagemap"))
    review = page.get("claim_review")
    dates = (page["date_review"],) if page.get("date_review") else ()
    published, dated_from = _known(date_of(*dates, url=url, retrieved=LAST))
    return Evidence(
        title=text(raw.get("title")),
        text=text(raw.get("snippet")),
        url=url,
        retrieved=LAST,
        provider="google-cse",
        query=query,
        published=published,
        dated_from=dated_from,
        review=Review(claim=text(review) if isinstance(review, str) else None) if review else None,
        more={"match": raw["match"]} if raw.get("match") is not None else {},
    )


def _check(item: JsonObject, query: str) -> list[Evidence]:
    """The reviews of one claim, as claims:search gives them."""
    out = []
    for review in reviews_in(item, retrieved=LAST):
        published, dated_from = _known(Dated(review.published, review.dated_from))
        out.append(
            Evidence(
                title=review.title,
                text=review.text,
                url=review.url,
                retrieved=LAST,
                provider="google-factcheck",
                query=query,
                published=published,
                dated_from=dated_from,
                language=review.language,
                review=review.review,
            )
        )
    return out


def _known(when: Dated) -> Dated:
    """A date, unless it is relative ("3 days ago") to an unknown day."""
    return NO_DATE if when.dated_from == "relative" else when


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)  # a table file keeps lists as JSON text
        except ValueError:
            return []
    if isinstance(value, Mapping):
        value = value.get("claims") or value.get("items") or []
    return list(value) if isinstance(value, list) else []
