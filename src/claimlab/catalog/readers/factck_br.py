"""FACTCK.BR: claims reviewed by three Brazilian fact-checkers, from their ClaimReview records."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    dated,
    entry_of,
    host,
    numbered,
    utc,
)


def load(bundle: Bundle) -> Loaded:
    """One TSV. Each row is a review: the claim becomes the record, the review its evidence.

    The address and date are the review's, so they do not stand on the record's own `url`; the date
    does, named for what it is, because the claim itself has none. One review may treat many claims:
    they form a group.
    """
    raw = Table.read(bundle, bundle.one("FACTCKBR.tsv", "*.tsv"), delimiter="\t")
    rating, url, published = (
        raw.need("alternativeName"),
        raw.need("URL"),
        utc(raw.need("datePublished").str.slice(0, 10)),
    )
    records = raw.frame.select(
        numbered("factck-br", raw.height),
        text=raw.need("claimReviewed"),
        label_raw=rating,
        **dated({"datePublished of the review": published}, written=raw.need("datePublished")),
        group=url,
    )
    # "https:www.aosfatos.org" and "https:piaui.folha.uol.com.brlupa": the slashes were lost in the
    # file.
    publisher = (
        raw.need("Author")
        .str.replace(r"^https?:(/*)(www\.)?", "")
        .str.replace(r"\.br(\w)", ".br/$1")
    )
    evidence = records.select(
        record_id="id",
        evidence_id=pl.col("id") + "-review",
        rank=pl.lit(1),
        title=raw.need("title"),
        text=raw.need("reviewBody").replace("Empty", None),
        url=url,
        domain=host(pl.col("group")),
        published=published,
        provider=pl.lit("ClaimReview"),
        publisher=publisher,
        rating=rating,
        verdict=entry_of("factck-br").maps["default"].apply(rating, unmapped="unknown").veracity,
        meta=raw.meta(["ratingValue", "bestRating"]),
    )
    return Loaded(records, {"evidence": evidence})
