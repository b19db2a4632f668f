"""FACTCK.BR: claims reviewed by three Brazilian fact-checkers, from their ClaimReview records."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    LabelMap,
    Loaded,
    Table,
    dated,
    host,
    numbered,
    utc,
)

# What the three agencies say their ratings mean: exaggeration, distortion, missing context and
# underestimation start from something true (mixed); what cannot be shown yet or at all is unknown.
RATINGS = LabelMap(
    "factck-br/default",
    {
        "Falso": "false",
        "Verdadeiro": "true",
        "Verdadeiro, mas": "true",
        "Exagerado": "mixed",
        "Subestimado": "mixed",
        "Distorcido": "mixed",
        "Sem contexto": "mixed",
        "Discutível": "mixed",
        "impreciso": "mixed",
        "insustentável": "unknown",
        "Impossível provar": "unknown",
        "Ainda é cedo para dizer": "unknown",
        "De olho": "unknown",
        "outros": "unknown",
    },
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
        kind=pl.lit("claim"),
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
        verdict=RATINGS.apply(rating, unmapped="unknown").veracity,
        meta=raw.meta(["ratingValue", "bestRating"]),
    )
    return Loaded(records, {"evidence": evidence})


DATASET = Entry(
    card=Card(
        name="factck-br",
        title="FACTCK.BR",
        summary=(
            "Claims checked by Aos Fatos, Agência Lupa and Agência Pública, with their ratings and"
            " reviews, gathered from the ClaimReview markup of the agencies' pages."
        ),
        size=1_309,
        modality=("claims",),
        topic="Various",
        region="Brazil",
        languages=("por",),
        labelling="Human expert",
        licence="MIT",
        access="Download FACTCKBR.tsv from the authors' GitHub repository.",
        homepage="https://github.com/jghm-f/FACTCK.BR",
        citation=(
            "Moreno and Bressan (2019), FACTCK.BR: A New Dataset to Study Fake News, WebMedia."
        ),
        errata=(
            (
                "1,313 rows, of which 13 have no claim text and 4 no rating; 528 rows (one agency)"
                " have the word 'Empty' for a review text."
            ),
            (
                "Each agency has its own scale (5, 6 and 8 steps) and its own words: a rating is"
                " only comparable through a map."
            ),
            (
                "Accented capitals and some punctuation were lost in the texts; the slashes were"
                " lost in the publishers."
            ),
            "Up to 27 claims share one review: split by review (group).",
        ),
        has_evidence=True,
        factchecks=True,
    ),
    maps={"default": RATINGS},
    variants={"claims": load},
    real_rows={"claims": 1_313},
    real_labels={
        "Falso": 615,
        "falso": 328,
        "Verdadeiro": 119,
        "Exagerado": 87,
        "Sem contexto": 42,
        "distorcido": 29,
        "Distorcido": 25,
        "Impossível provar": 20,
        "Discutível": 12,
        "Subestimado": 6,
        "Ainda é cedo para dizer": 6,
        "insustentável": 5,
        "exagerado": 4,
        "Verdadeiro, mas": 4,
        "De olho": 3,
        "impreciso": 2,
        "verdadeiro": 1,
        "outros": 1,
    },
)
