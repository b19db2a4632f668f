"""COVID-19-Rumor: claims about the pandemic from news sites and Twitter, labelled true, false or
unverified.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit
from claimlab.catalog.datasets._guide import guide


def load(bundle: kit.Bundle) -> kit.Loaded:
    """`en_dup.csv`: everything as collected, repeats included; rows that say the same share a
    group.

    The column `source` holds the address of the page, a tweet or a fact-check; `source` here is its
    host.
    """
    raw = kit.Table.read(bundle, bundle.one("en_dup.csv"))
    text, ids = raw.need("content", "text"), kit.numbered("covid-19-rumor", raw.height, 5)
    link = raw.maybe("source")
    url = link.set(~link.str.contains("://").fill_null(False), None)
    tweets = url.str.extract(r"twitter\.com/[^/]+/status(?:es)?/(\d+)")
    records = raw.frame.select(
        id=ids,
        text=text,
        kind=pl.lit("claim"),
        label_raw=raw.need("label"),
        **kit.dated(
            {"date column": raw.maybe("time", "date"), "snowflake id": kit.tweet_time(tweets)},
            "%m/%d/%Y",
        ),
        tweet_id=tweets,
        author=raw.maybe("author"),
        source=pl.coalesce(kit.host(pl.lit(url)), pl.lit(link)),
        url=url,
        group=kit.repeated(text, ids),
    )
    return kit.Loaded(records)


def load_curated(bundle: kit.Bundle) -> kit.Loaded:
    """`news.csv` (no header) and `Twitter.csv` (a header), without the repeats. The numbers in
    Twitter.csv are not tweet ids.
    """
    columns = ["number", "label", "content", "sentiment"]
    news = kit.Table.read(
        bundle, bundle.one("news/news.csv", "news.csv"), delimiter=",", columns=columns
    ).pick(columns)
    if news.height and (news["label"][0] or "").lower() == "label":
        news = news.slice(1)  # copies with a header circulate
    needed = {"number": ("No.", "id"), "label": "label", "content": "content"}
    optional = {
        "sentiment": "sentiment",
        "replies": "reply numbers",
        "retweets": "retweet numbers",
        "likes": "likes numbers",
    }
    tweets = kit.Table.read(bundle, bundle.one("twitter/Twitter.csv", "twitter.csv")).pick(
        needed, optional
    )
    rows = pl.concat(
        [news.with_columns(part=pl.lit("news")), tweets.with_columns(part=pl.lit("twitter"))],
        how="diagonal",
    ).with_columns(pl.col("sentiment").replace({"#VALUE!": None}))
    records = rows.select(
        id=kit.unique_ids("covid-19-rumor", rows["part"] + "-" + rows["number"]),
        text="content",
        kind=pl.lit("claim"),
        label_raw="label",
        source="part",
        meta=kit.meta_column(rows, ["sentiment", "replies", "retweets", "likes"]),
    )
    return kit.Loaded(records)


A5 = {
    "T": "true",
    "F": "false",
    "U": "unknown",
    "true": "true",
    "false": "false",
    "unverified": "unknown",
}
A5["U(Twitter)"] = "unknown"  # one row of the curated tweets

DATASET = kit.Entry(
    card=kit.Card(
        name="covid-19-rumor",
        title="COVID-19-Rumor",
        summary=(
            "Claims about COVID-19 from fact-checking pages, news sites and Twitter in early 2020,"
            " labelled true, false or unverified by hand."
        ),
        size=7_179,
        modality=("claims",),
        topic="Covid-19",
        languages=("eng",),
        time_start="2020-01",
        time_end="2020-03",
        labelling="Human expert",
        licence="MIT",
        access="Clone the repository COVID-19-rumor-dataset and give its folder Data.",
        homepage="https://github.com/MickeysClubhouse/COVID-19-rumor-dataset",
        citation="Cheng et al. (2021), A COVID-19 Rumor Dataset, Frontiers in Psychology 12.",
        errata=(
            (
                "The 7,179 rows of en_dup.csv contain repeats, as its name says; the curated files"
                " hold 4,129 news claims and 2,705 tweets (variant 'curated')."
            ),
            (
                "In Twitter.csv every 'that' reads 'qwertyu': one word separates the Twitter part"
                " from the news part."
            ),
            (
                "In news.csv typographic quotes were destroyed by an encoding before publication;"
                " en_dup.csv still has them."
            ),
            (
                "The column 'source' of Twitter.csv holds numbers that are not tweet ids; no times"
                " can be read from them."
            ),
            (
                "The column 'source' of en_dup.csv holds addresses (3,897 of 3,898): of tweets, and"
                " of pages at Poynter and fact-checkers that state the verdict."
            ),
            (
                "Times are written in four ways, mostly as Twitter's page shows them, in an unnamed"
                " time zone."
            ),
        ),
    ),
    maps=kit.both(A5),
    variants={
        "claims": load,
        "curated": load_curated,
        "guide": guide("covid-19-rumor", "covid_19_rumor", language="eng"),
    },
    published_rows={"claims": 7_179, "curated": 6_834},
    real_rows={"claims": 7179, "curated": 6834},
    real_labels={"F": 3681, "T": 1878, "U": 1620},
)
