"""VoterFraud2020: ids of tweets about fraud claims in the US election of 2020."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, members, meta_column, sent

EXTRA = ["user_community", "user_active_status"]


def load(bundle: Bundle) -> Loaded:
    """data/tweets/MONTH/tweets-DAY.csv: a tweet id, the community and status of its author, and
    counts. No verdicts.

    The file's name gives the day; the id holds the time of that day.
    """
    names = members(bundle, "tweets-20*.csv")
    raw = pl.concat([Table.read(bundle, name).pick(["tweet_id"], EXTRA) for name in names])
    records = raw.select(
        "tweet_id",
        kind=pl.lit("id-only"),
        **sent(raw["tweet_id"]),
        meta=meta_column(raw, EXTRA),
    )
    return Loaded(
        records,
        notes=["No annotator judged these tweets: the files hold communities, not verdicts."],
    )


DATASET = Entry(
    card=Card(
        name="voterfraud2020",
        title="VoterFraud2020",
        summary=(
            "Ids of 7.6 million tweets and 25.6 million retweets about claims of voter fraud, with"
            " the communities of their authors, image hashes, links and videos."
        ),
        size=7_600_000,
        modality=("tweets", "posts", "images", "videos"),
        topic="Election",
        region="USA",
        languages=("eng",),
        time_start="2020-10-23",
        time_end="2020-12-16",
        labelling="None: communities found by an algorithm",
        licence="not checked; see the homepage",
        access="Clone or download the repository; texts must be fetched by id.",
        homepage="https://github.com/sTechLab/VoterFraud2020",
        citation=(
            "Abilov, Hua, Matatov, Amir and Naaman (2021), VoterFraud2020: a Multi-modal Dataset of"
            " Election Fraud Claims on Twitter, ICWSM."
        ),
        errata=(
            "Printed as 'WaterFraud2020' in the guide's table.",
            "It has no verdicts: no check of labels applies.",
        ),
    ),
    variants={"tweets": load},
    published_rows={"tweets": 7600000},
    real_rows={"tweets": 23080},
)
