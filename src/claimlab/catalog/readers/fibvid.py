"""FibVID: fact-checked claims on Covid-19 and other matters, and the tweets that were matched to
them.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, dated, meta_column

TWEET = ["post_text", "like_count", "retweet_count", "similarity", "hashtag"]
TOPICS = {"0": "Covid-19", "1": "Covid-19", "2": "Other", "3": "Other"}


def claims_of(bundle: Bundle) -> pl.DataFrame:
    raw = Table.read(bundle, bundle.one("news_claim.csv")).pick(
        ["text", "source", "claim_num", "group"]
    )
    return raw.select(
        *["text", "source"],
        id=pl.format("fibvid-{}", "claim_num"),
        claim="claim_num",
        label_raw="group",
        topic=pl.col("group").replace_strict(TOPICS, default=None),
    )


def load(bundle: Bundle) -> Loaded:
    """One row per claim: the four groups say at once what it is about and whether it is true."""
    return Loaded(claims_of(bundle).drop("claim"))


def load_join(bundle: Bundle) -> Loaded:
    """One row per claim and tweet, claims without tweets kept; the text is the claim's, the tweet's
    is in `meta`.
    """
    needed = ["create_date", "tweet_id", "claim_number", "tweet_user", *TWEET]
    tweets = Table.read(bundle, bundle.one("origin_tweet.csv")).pick(needed)
    joined = claims_of(bundle).join(
        tweets, left_on="claim", right_on="claim_number", how="left", maintain_order="left_right"
    )
    records = joined.select(
        *["text", "label_raw", "source", "topic"],
        id=pl.format("{}-{}", "id", pl.int_range(1, pl.len() + 1).over("id")),
        **dated({"create_date column": joined["create_date"]}),
        tweet_id="tweet_id",
        author="tweet_user",
        group="id",
        meta=meta_column(joined, TWEET),
    )
    return Loaded(
        records,
        notes=[
            "The text of each row is the claim's, so it repeats for every tweet: split by group."
        ],
    )
