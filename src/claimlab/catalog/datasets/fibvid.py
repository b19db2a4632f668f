"""FibVID: fact-checked claims on Covid-19 and other matters, and the tweets that were matched to
them.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, both, dated, meta_column

TWEET = ["post_text", "like_count", "retweet_count", "similarity", "hashtag"]


def claims_of(bundle: Bundle) -> pl.DataFrame:
    raw = Table.read(bundle, bundle.one("news_claim.csv")).pick(
        ["text", "source", "claim_num", "group"]
    )
    return raw.select(
        *["text", "source"],
        id=pl.format("fibvid-{}", "claim_num"),
        claim="claim_num",
        kind=pl.lit("claim"),
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
        *["text", "kind", "label_raw", "source", "topic"],
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


TOPICS = {"0": "Covid-19", "1": "Covid-19", "2": "Other", "3": "Other"}
VERDICTS = {"0": "true", "1": "false", "2": "true", "3": "false"}

DATASET = Entry(
    card=Card(
        name="fibvid",
        title="FibVID",
        summary=(
            "Claims that PolitiFact and Snopes checked in 2020, about Covid-19 and other matters,"
            " with the tweets that were found to spread them."
        ),
        size=1_353,
        modality=("claims",),
        topic="Covid-19",
        region="International",
        languages=("eng",),
        time_start="2020-02",
        time_end="2021-01",
        labelling="Human expert",
        licence=None,
        access="Download news_claim.csv and origin_tweet.csv from the authors' repository.",
        homepage="https://github.com/merry555/FibVID",
        citation=(
            "Kim, Aum, Lee, Jang, Park and Choi (2021), FibVID: Comprehensive fake news diffusion"
            " dataset during the COVID-19 period, Telematics and Informatics 64."
        ),
        errata=(
            (
                "The guide's label shares and keyword score are those of the join of claims and"
                " tweets (2,832 rows, variant 'join'), where a claim counts once per tweet; of the"
                " 1,353 claims 26.09% are true."
            ),
            (
                "Only 295 of the 1,353 claims have tweets in origin_tweet.csv (1,774 tweets); the"
                " 221,253 of the paper are in claim_propagation.csv."
            ),
            (
                "Tweets were matched to claims by key words, at a median similarity of 0.54 and"
                " down to 0: not each states the claim it is listed under."
            ),
            (
                "The end is January 2021 in the guide's table and December 2020 in its text; the"
                " tweets run from 2020-02-01 to 2020-12-21."
            ),
        ),
    ),
    maps=both(VERDICTS),
    variants={"claims": load, "join": load_join},
    real_rows={"claims": 1_353, "join": 2_832},
    real_labels={"0": 203, "1": 569, "2": 150, "3": 431},
)
