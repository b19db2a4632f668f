"""ReCOVery: pandemic news of reliable and unreliable sites, and the tweets that share it."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, dated, sent

NEWS = "*recovery-news-data*.csv"
NO_NEWS = (
    "recovery-news-data.csv is not among these files, so the tweets have no label: it names each"
    " article's reliability."
)
LABEL = {"news_id": "news_id", "label_raw": "reliability"}


def load_tweets(bundle: Bundle) -> Loaded:
    """Tweet ids, grouped by the article they share; the label is the article's, where the news
    table is present.
    """
    name = bundle.one("*recovery-social-media-data*.csv", "*social*.csv")
    tweets = Table.read(bundle, name).pick(["news_id", "tweet_id"])
    files = bundle.match(NEWS)
    news = (
        Table.read(bundle, files[0]).pick(LABEL)
        if files
        else pl.DataFrame(schema=dict.fromkeys(LABEL, pl.String))
    )
    tweets = tweets.join(
        news.unique("news_id", keep="first"), on="news_id", how="left", maintain_order="left"
    )
    records = tweets.select(
        "tweet_id",
        id="recovery-tweet-" + pl.col("tweet_id"),
        kind=pl.lit("id-only"),
        label_raw=pl.col("label_raw").str.strip_suffix(".0"),
        language=pl.lit(
            None, pl.String
        ),  # the articles are English, the tweets that share them need not be
        **sent(tweets["tweet_id"]),
        group="news-" + pl.col("news_id"),
    )
    return Loaded(records, notes=[] if files else [NO_NEWS])


def load_articles(bundle: Bundle) -> Loaded:
    """The news table: one row per article."""
    raw = Table.read(bundle, bundle.one(NEWS, "*news*.csv"))
    records = raw.frame.select(
        id="recovery-news-" + raw.need("news_id"),
        text=raw.need("body_text"),
        kind=pl.lit("article"),
        label_raw=raw.need("reliability").str.strip_suffix(".0"),
        **dated({"date column": raw.maybe("publish_date")}, "%m/%d/%Y"),
        author=raw.maybe("author"),
        source=raw.maybe("publisher"),
        url=raw.maybe("url"),
        group="news-" + raw.need("news_id"),
        meta=raw.meta(["title", "image", "political_bias", "country"]),
    )
    return Loaded(records)


DATASET = Entry(
    card=Card(
        name="recovery",
        title="ReCOVery",
        summary=(
            "Coronavirus news articles of reliable and unreliable websites, and the ids of tweets"
            " that share them."
        ),
        size=142_849,
        modality=("articles", "tweets"),
        topic="Covid-19",
        languages=("eng",),
        time_start="2020-01",
        time_end="2020-05",
        licence="CC BY-NC-SA 4.0",
        access=(
            "Both tables are in the authors' public repository; texts of tweets must be fetched"
            " from the platform."
        ),
        homepage="https://github.com/apurvamulay/ReCOVery",
        citation=(
            "Zhou, Mulay, Ferrara and Zafarani (2020), ReCOVery: A Multimodal Repository for"
            " COVID-19 News Credibility Research, CIKM."
        ),
        errata=(
            "The published size adds 2,029 articles and 140,820 tweets.",
            "The label is the website's: an article is never checked by itself.",
            (
                "Two of the tweet ids (nine digits) are older than time-stamped ids, years before"
                " the pandemic, so they cannot be ids of these tweets; another dates from 2016."
            ),
            "Tweets without the news table have no label; the copy at hand holds the tweets only.",
        ),
    ),
    maps={"a5": {"1": "true", "0": "false"}},
    variants={"tweets": load_tweets, "articles": load_articles},
    real_rows={"tweets": 140_820},
)
