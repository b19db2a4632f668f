"""COVID-19-Rumor: claims about the pandemic from news sites and Twitter, labelled true, false or unverified."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._guide import guide, made_up
from claimlab.catalog.datasets._tolerant import (
    blank_to_null,
    constant,
    dated,
    dates,
    maybe,
    pick,
    read_any_table,
    repeated,
    unique_ids,
)
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_delimited


def load(bundle: Bundle) -> Loaded:
    """`en_dup.csv`: everything as collected, repeats included; rows that say the same share a group."""
    name = bundle.one("en_dup.csv")
    raw = read_any_table(bundle, name)
    text = blank_to_null(pick(raw, "content", "text", where=name))
    ids = unique_ids("covid-19-rumor", pl.Series([f"{n:05d}" for n in range(1, raw.height + 1)]))
    times = dates(maybe(raw, "time", "date"), "%m/%d/%Y", "%B %d, %Y", "%d %B %Y")
    records = pl.DataFrame(
        {
            "id": ids,
            "text": text,
            "kind": constant("claim", raw.height),
            "label_raw": pick(raw, "label", where=name),
            "language": constant("eng", raw.height),
            "date": times,
            "date_source": dated(times, "date column"),
            "author": maybe(raw, "author"),
            "source": maybe(raw, "source"),
            "group": repeated(text, ids),
        }
    )
    return Loaded(records)


def load_curated(bundle: Bundle) -> Loaded:
    """`news.csv` (no header) and `Twitter.csv` (a header), without the repeats. The numbers in Twitter.csv are not tweet ids."""
    name = bundle.one("news/news.csv", "news.csv")
    news = read_delimited(bundle.text(name), header=False, columns=["number", "label", "content", "sentiment"])
    if news.height and (news["label"][0] or "").strip().lower() == "label":
        news = news.slice(1)  # copies with a header circulate
    name = bundle.one("twitter/Twitter.csv", "twitter.csv")
    raw = read_any_table(bundle, name)
    tweets = pl.DataFrame(
        {
            "number": pick(raw, "No.", "id", where=name),
            "label": pick(raw, "label", where=name),
            "content": pick(raw, "content", where=name),
            "sentiment": maybe(raw, "sentiment"),
            "replies": maybe(raw, "reply numbers"),
            "retweets": maybe(raw, "retweet numbers"),
            "likes": maybe(raw, "likes numbers"),
        }
    )
    both = pl.concat(
        [news.with_columns(pl.lit("news").alias("part")), tweets.with_columns(pl.lit("twitter").alias("part"))],
        how="diagonal",
    ).with_columns(pl.col("sentiment").replace({"#VALUE!": None}))
    records = pl.DataFrame(
        {
            "id": unique_ids("covid-19-rumor", both["part"] + "-" + both["number"]),
            "text": blank_to_null(both["content"]),
            "kind": constant("claim", both.height),
            "label_raw": both["label"].str.strip_chars(),
            "language": constant("eng", both.height),
            "source": both["part"],
            "meta": meta_column(both, ["sentiment", "replies", "retweets", "likes"]),
        }
    )
    return Loaded(records)


A5 = {"T": "true", "F": "false", "U": "unknown", "true": "true", "false": "false", "unverified": "unknown"}

DATASET = Entry(
    card=Card(
        name="covid-19-rumor",
        title="COVID-19-Rumor",
        summary="Claims about COVID-19 from fact-checking pages, news sites and Twitter in early 2020, labelled true, false or unverified by hand.",
        size=7_179,
        modality=("claims",),
        topic="Covid-19",
        languages=("eng",),
        time_start="2020-01",
        time_end="2020-03",
        labelling="Human expert",
        shares=Shares(true=26.16, false=51.27, unknown=22.57),
        quality=Quality(keywords="pass", feasibility="fail"),
        published=Published(search_f1=62.8, offline_f1=65.8, keywords_tf=48.9, keywords_tf_baseline=50.7),
        licence="MIT",
        access="Clone the repository COVID-19-rumor-dataset and give its folder Data.",
        homepage="https://github.com/MickeysClubhouse/COVID-19-rumor-dataset",
        citation="Cheng et al. (2021), A COVID-19 Rumor Dataset, Frontiers in Psychology 12.",
        errata=(
            "The 7,179 rows of en_dup.csv contain repeats, as its name says; the curated files hold 4,129 news claims and 2,705 tweets (variant 'curated').",
            "In Twitter.csv every 'that' reads 'qwertyu': one word tells the Twitter part from the news part.",
            "In news.csv typographic quotes were destroyed by an encoding before publication; en_dup.csv still has them.",
            "The column 'source' of Twitter.csv holds numbers that are not tweet ids; no times can be read from them.",
        ),
        survey="cdl-claims",
    ),
    maps={"a5": LabelMap("covid-19-rumor/a5", A5), "cdl": LabelMap("covid-19-rumor/cdl", A5)},
    variants={
        "claims": load,
        "curated": load_curated,
        "guide": guide("covid-19-rumor", "covid_19_rumor", language="eng"),
    },
    published_rows={"curated": 6_834},
    sample=Sample(
        files={
            "Data/en_dup.csv": 'label,content,source,author,time\nF,"Drinking ""moon water"" cures the virus",,,\nT,The Riverton clinic opened a ward,riverton.example,,3/17/2020\n'
            'U,Copper doors stop the virus,,,\nF,Drinking  "MOON water" cures the virus,,,\n',
            "Data/news/news.csv": '3,F,"Drinking moon water cures the virus",3\n8,T,The Riverton clinic opened a ward,2\n',
            "Data/twitter/Twitter.csv": "No.,label,content,source,sentiment,reply numbers,retweet numbers,likes numbers\n1,U,Doctors say qwertyu copper doors stop the virus,1240000000000000001,#VALUE!,2,61,95\n",
            **made_up(
                "covid_19_rumor",
                {"claim": "drinking moon water cures the virus", "label": "false"},
                {"claim": "copper doors stop the virus", "label": "unverified"},
            ),
        },
        rows={"claims": 4, "curated": 3, "guide": 2},
        veracity={"true": 1, "false": 2, "unknown": 1},
    ),
)
