"""FibVID: fact-checked claims on Covid-19 and other matters, and the tweets that were matched to them."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.table import Table
from claimlab.catalog.times import dated, utc
from claimlab.catalog.tweets import tweet_ids
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column
from claimlab.files.bundle import Bundle

TWEET = ["post_text", "like_count", "retweet_count", "similarity", "hashtag"]


def claims_of(bundle: Bundle) -> pl.DataFrame:
    raw = Table.read(bundle, bundle.one("news_claim.csv")).pick(["text", "source", "claim_num", "group"])
    return raw.select(
        *["text", "source"],
        id=pl.format("fibvid-{}", "claim_num"),
        claim="claim_num",
        kind=pl.lit("claim"),
        label_raw="group",
        language=pl.lit("eng"),
        topic=pl.col("group").replace_strict(TOPICS, default=None),
    )


def load(bundle: Bundle) -> Loaded:
    """One row per claim: the four groups say at once what it is about and whether it is true."""
    return Loaded(claims_of(bundle).drop("claim"))


def load_join(bundle: Bundle) -> Loaded:
    """One row per claim and tweet, claims without tweets kept; the text is the claim's, the tweet's stands in `meta`."""
    needed = ["create_date", "tweet_id", "claim_number", "tweet_user", *TWEET]
    tweets = Table.read(bundle, bundle.one("origin_tweet.csv")).pick(needed)
    joined = claims_of(bundle).join(
        tweets, left_on="claim", right_on="claim_number", how="left", maintain_order="left_right"
    )
    records = joined.select(
        *["text", "kind", "label_raw", "language", "source", "topic"],
        id=pl.format("{}-{}", "id", pl.int_range(1, pl.len() + 1).over("id")),
        **dated({"create_date column": utc(joined["create_date"])}),
        tweet_id=tweet_ids(joined["tweet_id"]),
        author="tweet_user",
        group="id",
        meta=meta_column(joined, TWEET),
    )
    return Loaded(
        records, notes=["The text of each row is the claim's, so it repeats for every tweet: split by group."]
    )


TOPICS = {"0": "Covid-19", "1": "Covid-19", "2": "Other", "3": "Other"}
VERDICTS = {"0": "true", "1": "false", "2": "true", "3": "false"}

DATASET = Entry(
    card=Card(
        name="fibvid",
        title="FibVID",
        summary="Claims that PolitiFact and Snopes checked in 2020, about Covid-19 and other matters, with the tweets "
        "that were found to spread them.",
        size=1_353,
        modality=("claims",),
        topic="Covid-19",
        region="International",
        languages=("eng",),
        time_start="2020-02",
        time_end="2021-01",
        labelling="Human expert",
        shares=Shares(true=23.76, false=76.24),
        quality=Quality(keywords="pass", temporal="fail", feasibility="fail"),
        published=Published(
            search_f1=67.6,
            offline_f1=67.3,
            keywords_tf=53.3,
            keywords_tf_baseline=49.6,
            temporal=62.2,
            temporal_feature="date",
        ),
        licence=None,
        access="Download news_claim.csv and origin_tweet.csv from the authors' repository.",
        homepage="https://github.com/merry555/FibVID",
        citation="Kim, Aum, Lee, Jang, Park and Choi (2021), FibVID: Comprehensive fake news diffusion dataset during the "
        "COVID-19 period, Telematics and Informatics 64.",
        errata=(
            "The guide's label shares and keyword score are those of the join of claims and tweets (2,832 rows, variant "
            "'join'), where a claim counts once per tweet; of the 1,353 claims 26.09 % are true.",
            "Only 295 of the 1,353 claims have tweets in origin_tweet.csv (1,774 tweets); the 221,253 of the paper are "
            "in claim_propagation.csv.",
            "Tweets were matched to claims by key words, at a median similarity of 0.54 and down to 0: not each states the "
            "claim it stands under.",
            "The end is January 2021 in the guide's table and December 2020 in its text; the tweets run from "
            "2020-02-01 to 2020-12-21.",
        ),
        survey="cdl-claims",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("fibvid/a5", VERDICTS), "cdl": LabelMap("fibvid/cdl", VERDICTS)},
    variants={"claims": load, "join": load_join},
    sample=Sample(
        files={
            "news_claim.csv": "text,source,claim_num,group\n"
            "masks are sold out in Northport,politifact,0,0\n"
            '"the mayor said, ""garlic cures the virus""",snopes,1,1\n'
            "the bridge opened in 1931,snopes,2,2\n"
            "the river flows uphill,politifact,3,3\n",
            "origin_tweet.csv": "create_date,tweet_id,similarity,like_count,retweet_count,post_text,claim_number,group,hashtag,tweet_user\n"
            '2020-03-02T10:11:12.000Z,1234567890123456789,0.0,3,1,"Garlic, they say.\nReally?",1,1,covid,77\n'
            "2020-03-03T00:00:00.000Z,1.23457E+18,,0,0,Uphill!,3,3,,78\n"
            "2020-03-04T00:00:00.000Z,1234999990123456789,0.7,0,0,Garlic again,1,1,,77\n",
        },
        rows={"claims": 4, "join": 5},
        veracity={"true": 2, "false": 2},
    ),
    real_rows={"claims": 1_353, "join": 2_832},
    real_labels={"0": 203, "1": 569, "2": 150, "3": 431},
)
