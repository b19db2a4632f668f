"""Fact-checks from ClaimReview data in any of its shapes: schema.org feeds, JSON-LD of pages, the
Fact Check Tools API.

schema.org: https://schema.org/ClaimReview. Bulk data: a DataFeed whose `dataFeedElement` items hold
ClaimReviews (the feed of Google's Fact Check Markup Tool), one ClaimReview per line (with or
without a <script> around it: the research dataset of Data Commons), a list, a `@graph`, or the
`claims` that claims:search answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from claimlab.core.languages import normalise
from claimlab.core.types import Json, JsonObject
from claimlab.search.dates import date_of, read_date
from claimlab.search.evidence import FactCheckReview
from claimlab.search.fields import address, mapping, text
from claimlab.search.indexed import Document

MAX_DEPTH = 12  # of nesting, in untrusted data
WRAPPERS = ("dataFeedElement", "item", "@graph", "claims", "itemListElement", "mainEntity")


def holds_reviews(data: Json) -> bool:
    """Whether `data` looks like ClaimReview data rather than plain documents."""
    return next(_walk(data), None) is not None


def reviews_in(data: Json, *, retrieved: datetime) -> Iterator[Document]:
    """Every fact-check inside `data`, however deep the feed wraps it."""
    for kind, item in _walk(data):
        if kind == "schema":
            yield _from_schema(item, retrieved)
        else:
            yield from _from_api(item, retrieved)


def _walk(data: Json, depth: int = 0) -> Iterator[tuple[str, JsonObject]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(data, list):
        for item in data:
            yield from _walk(item, depth + 1)
    elif isinstance(data, dict):
        if "ClaimReview" in _types(data):
            yield "schema", data
        elif isinstance(data.get("claimReview"), list):
            yield "api", data
        else:
            for key in WRAPPERS:
                yield from _walk(data.get(key), depth + 1)


def _types(data: JsonObject) -> list[str]:
    types = data.get("@type")
    names = types if isinstance(types, list) else [types]
    return [t.rsplit("/", 1)[-1].rsplit(":", 1)[-1] for t in names if isinstance(t, str)]


def _from_schema(raw: JsonObject, retrieved: datetime) -> Document:
    rating, claimed = _one(raw.get("reviewRating")), _one(raw.get("itemReviewed"))
    url = address(raw.get("url")) or address(mapping(raw.get("mainEntityOfPage")).get("@id"))
    language = text(raw.get("inLanguage"))
    iso3 = normalise(language) if language else None
    when = date_of(
        raw.get("datePublished"),
        raw.get("dateCreated"),
        url=url,
        retrieved=retrieved,
        language=iso3,
    )
    claim = text(raw.get("claimReviewed"))
    return Document(
        text=claim or text(raw.get("description")),
        title=text(raw.get("name")) or text(raw.get("headline")),
        url=url,
        published=when.published,
        dated_from=when.dated_from,
        language=iso3,
        review=FactCheckReview(
            publisher=_name(raw.get("author")) or _name(raw.get("publisher")),
            rating=text(rating.get("alternateName")) or text(rating.get("name")) or _scale(rating),
            claim=claim,
            claimant=_name(claimed.get("author")),
            claim_date=read_date(claimed.get("datePublished"), retrieved=retrieved).published,
        ),
    )


def _from_api(raw: JsonObject, retrieved: datetime) -> Iterator[Document]:
    for review in (r for r in raw["claimReview"] if isinstance(r, dict)):
        url, language = address(review.get("url")), text(review.get("languageCode"))
        when = date_of(review.get("reviewDate"), url=url, retrieved=retrieved)
        yield Document(
            text=text(raw.get("text")),
            title=text(review.get("title")),
            url=url,
            published=when.published,
            dated_from=when.dated_from,
            language=normalise(language) if language else None,
            review=api_review(raw, review, retrieved),
        )


def api_review(claim: JsonObject, review: JsonObject, retrieved: datetime) -> FactCheckReview:
    """A review as claims:search answers with it."""
    publisher = mapping(review.get("publisher"))
    return FactCheckReview(
        publisher=text(publisher.get("name")) or text(publisher.get("site")),
        rating=text(review.get("textualRating")),
        claim=text(claim.get("text")),
        claimant=text(claim.get("claimant")),
        claim_date=read_date(claim.get("claimDate"), retrieved=retrieved).published,
    )


def _scale(rating: JsonObject) -> str | None:
    """A rating given only as a number, as written. No verdict is read from it: publishers' scales
    run both ways.
    """
    value, best, worst = (rating.get(k) for k in ("ratingValue", "bestRating", "worstRating"))
    if value is None:
        return None
    scale = f" (worst {worst}, best {best})" if best is not None and worst is not None else ""
    return f"{value}{scale}"


def _one(value: Json) -> JsonObject:
    return mapping(value[0] if isinstance(value, list) and value else value)


def _name(value: Json) -> str | None:
    if isinstance(value, str):
        return text(value)
    return text(_one(value).get("name"))
