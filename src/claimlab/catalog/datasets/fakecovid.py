"""FakeCovid: claims about the pandemic that fact-checkers of 105 countries rated, with their
articles.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.datasets._guide import guide
from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Table,
    dated,
    languages,
    numbered,
    rating_verdicts,
)

JULY = ("FakeCovid_July2020.csv", "FakeCovid*July*.csv")
JUNE = ("FakeCovid_June2020.csv", "FakeCovid*June*.csv")


def load(bundle: Bundle) -> Loaded:
    """The claims of the second release as Poynter and Snopes list them, in English; the articles
    behind them are evidence.
    """
    return _load(Table.read(bundle, bundle.one(*JULY)))


def load_june(bundle: Bundle) -> Loaded:
    return _load(Table.read(bundle, bundle.one(*JUNE)))


def load_articles(bundle: Bundle) -> Loaded:
    """The fact-checkers' articles themselves, in their languages. They state the verdict."""
    raw = Table.read(bundle, bundle.one(*JULY))
    records = _records(raw, "date column").with_columns(
        text=raw.need("content_text"),
        kind=pl.lit("article"),
        language=languages(raw.maybe("lang", "language")),
    )
    return Loaded(records)


def _load(raw: Table) -> Loaded:
    records = _records(raw, "date column (review)")
    evidence = records.select(
        record_id="id",
        evidence_id=pl.col("id") + "-article",
        rank=pl.lit(1),
        text=raw.maybe("content_text"),
        title=raw.maybe("source_title"),
        url=raw.maybe("article_source"),
        published="date",
        provider=pl.lit("fakecovid"),
        publisher="source",
        rating="label_raw",
    )
    return Loaded(records, {"evidence": evidence.drop_nulls("text")})


def _records(raw: Table, date_source: str) -> pl.DataFrame:
    return raw.frame.select(
        id=numbered("fakecovid", raw.height, 5),
        text=raw.need("title", "source_title").fill_null(raw.maybe("source_title")),
        kind=pl.lit("claim"),
        label_raw=raw.need("class", "label"),
        language=pl.lit("eng"),
        **dated({date_source: raw.maybe("published_date", "date")}, "%Y/%m/%d"),
        source=raw.maybe("verifiedby", "verified_by"),
        url=raw.maybe("ref_url"),
        topic=raw.maybe("category"),
        meta=raw.meta(
            {"article_language": "lang", "country": "country", "listed_by": "ref_source"}
        ),
    )


OWN = {
    "false": "false",
    "mostly false": "false",
    "mosly false": "false",
    "misleading": "false",
    "misleading/false": "false",
    "false and misleading": "false",
    "fake": "false",
    "fake news": "false",
    "not true": "false",
    "incorrect": "false",
    "scam": "false",
    "pants on fire": "false",
    "pants on fire!": "false",
    "three pinocchios": "false",
    "four pinocchios": "false",
    "misinformation / conspiracy theory": "false",
    "conspiracy theory": "false",
    "unlikely": "false",
    "miscaptioned": "false",
    "misattributed": "false",
    "true": "true",
    "mostly true": "true",
    "correct": "true",
    "correct attribution": "true",
    "half true": "mixed",
    "half truth": "mixed",
    "partly true": "mixed",
    "partially true": "mixed",
    "partly false": "mixed",
    "partially false": "mixed",
    "partially correct": "mixed",
    "partly true/misleading": "mixed",
    "mixed": "mixed",
    "mixture": "mixed",
    "true but": "mixed",
    "in dispute": "mixed",
    "two pinocchios": "mixed",
    "no evidence": "unknown",
    "unproven": "unknown",
    "unverified": "unknown",
    "suspicions": "unknown",
    "explanatory": "unknown",
    "collections": "unknown",
    "news": "unknown",
    "not applicable": "unknown",
    "(org. doesn't apply rating)": "unknown",
    "labeled satire": "unknown",
}
A5 = rating_verdicts(OWN)
CDL = {
    "partly true/misleading": "false",
    "two pinocchios": "false",
    "true but": "true",
    "suspicions": "mixed",
    "labeled satire": "false",
}

DATASET = Entry(
    card=Card(
        name="fakecovid",
        title="FakeCovid",
        summary=(
            "Claims about COVID-19 that 92 fact-checking sites rated in the first half of 2020, as"
            " listed by Poynter and Snopes, each with the fact-checkers' article in one of 40"
            " languages."
        ),
        size=7_623,
        modality=("claims", "articles"),
        topic="Covid-19",
        region="International",
        languages=("eng",),
        language_count=40,
        time_start="2020-01-04",
        time_end="2020-07-01",
        labelling="Human expert",
        access="Clone the repository FakeCovid and give its folder data.",
        homepage="https://github.com/Gautamshahi/FakeCovid",
        citation=(
            "Shahi and Nandini (2020), FakeCovid: A Multilingual Cross-domain Fact Check News"
            " Dataset for COVID-19, ICWSM workshop on Cyber Social Threats."
        ),
        errata=(
            (
                "Nearly everything is false (94%): the published 49.9 is what always answering"
                " 'false' gives, not a sign that nothing leaks."
            ),
            (
                "The column 'lang' is the language of the fact-checker's article; the claims come"
                " from Poynter's and Snopes' English lists."
            ),
            "Dates are those of the fact-check, not of the claim.",
            (
                "Ratings are each organisation's own words; ratings that are in neither this entry"
                " nor claimlab's list raise an error that names them."
            ),
        ),
        has_evidence=True,
        factchecks=True,
    ),
    maps={"a5": A5, "cdl": rating_verdicts({**OWN, **CDL})},
    variants={
        "claims": load,
        "june": load_june,
        "articles": load_articles,
        "guide": guide("fakecovid", "fakecovid"),
    },
    published_rows={"june": 5_182, "articles": 7_623, "guide": 7_623},
)
