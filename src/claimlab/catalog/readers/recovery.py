"""ReCOVery: pandemic news of reliable and unreliable sites, and the tweets that share it."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, sent

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
        label_raw=pl.col("label_raw").str.strip_suffix(".0"),
        language=pl.lit(
            None, pl.String
        ),  # the articles are English, the tweets that share them need not be
        **sent(tweets["tweet_id"]),
        group="news-" + pl.col("news_id"),
    )
    return Loaded(records, notes=[] if files else [NO_NEWS])
