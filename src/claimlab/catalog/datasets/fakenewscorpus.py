"""FakeNewsCorpus: news articles that carry the rating of their website."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, meta_column

SIZE = 9_408_908
META = ["title", "meta_keywords", "meta_description", "scraped_at"]


def load(bundle: Bundle) -> Loaded:
    """The published sample of the corpus. The times in it are those of the crawl, so they are no
    dates of articles.
    """
    raw = Table.read(bundle, bundle.one("news_sample.csv", "*news*sample*.csv"))
    extra = raw.pick((), META).with_columns(pl.col("meta_keywords").replace({"['']": None}))
    records = raw.frame.select(
        id="fakenewscorpus-" + raw.need("id"),
        text=raw.need("content"),
        kind=pl.lit("article"),
        label_raw=raw.need("type"),
        author=raw.maybe("authors"),
        source=raw.need("domain"),
        url=raw.need("url"),
        topic=raw.maybe("tags"),
        meta=meta_column(extra, META),
    )
    note = (
        f"These are {records.height:,} of {SIZE:,} articles: the sample that the guide's shares"
        " were counted on, unlike the whole."
    )
    return Loaded(records, notes=[note])


A5 = {
    "reliable": "true",
    "fake": "false",
    "conspiracy": "false",
    "junksci": "false",
    "bias": "mixed",
    "clickbait": "mixed",
    "unreliable": "unknown",
    "political": "unknown",
    "hate": "unknown",
    "satire": "unknown",
    "state": "unknown",
    "rumor": "unknown",
    "unknown": "unknown",
}

DATASET = Entry(
    card=Card(
        name="fakenewscorpus",
        title="FakeNewsCorpus",
        summary=(
            "Millions of crawled articles, each with the kind (fake, reliable, bias, ...) that"
            " OpenSources gives its website."
        ),
        size=SIZE,
        modality=("articles",),
        topic="Various",
        languages=("eng",),
        labelling="Source-based",
        licence="Apache-2.0",
        access=(
            "A sample of 250 articles is in the public repository; the whole corpus (tens of"
            " gigabytes) is in its releases and is not read by this loader."
        ),
        homepage="https://github.com/several27/FakeNewsCorpus",
        citation="Szpakowski (2018), Fake News Corpus, version 1.0, GitHub.",
        errata=(
            (
                "The guide's shares are those of the 250-row sample; in the whole corpus 20% of the"
                " articles are 'reliable' and 10% 'fake' by the author's own table."
            ),
            (
                "The guide's shares come out with fake, conspiracy and any two of unreliable, bias"
                " and junksci as false (six rows each, so the two are ambiguous); the map 'cdl'"
                " takes unreliable and junksci."
            ),
            (
                "The guide cites Pathak and Srihari (2019), which presents another corpus of the"
                " same name."
            ),
            (
                "Every domain of the sample has a single label, and one domain gives 155 of the 250"
                " rows: the source is the label."
            ),
            (
                "12 rows of the sample have no type; they stay without a verdict and the guide"
                " counts them as unknown."
            ),
        ),
    ),
    maps={
        "a5": A5,
        "cdl": {**A5, "unreliable": "false", "bias": "unknown", "clickbait": "unknown"},
    },
    variants={"sample": load},
    real_rows={"sample": 250},
    real_labels={
        "fake": 155,
        "conspiracy": 31,
        "political": 23,
        "bias": 6,
        "junksci": 6,
        "unknown": 6,
        "unreliable": 6,
        "reliable": 3,
        "clickbait": 1,
        "hate": 1,
    },
)
