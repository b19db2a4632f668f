"""FakeNewsNet: headlines checked by PolitiFact and GossipCop, with their addresses and the tweets
that share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Table,
    UnreadableFile,
    dated,
    meta_column,
    tweet_time,
)

SITES = ("politifact", "gossipcop")
LABELS = {"1": "real", "0": "fake"}  # as the title lists write them
ITEM = {"item": "id", "news_url": "news_url", "title": "title", "tweet_ids": "tweet_ids"}
TITLE = ["label", "title", "date"]


def load_view(bundle: Bundle, site: str | None = None) -> Loaded:
    """All headlines or those of one site: the four published tables, or else the dated title lists
    that circulate.
    """
    if all(bundle.match(f"{s}_{label}.csv") for s in SITES for label in LABELS.values()):
        return load_items(bundle, site)
    rows = _titles(bundle)
    return Loaded(rows if site is None else rows.filter(pl.col("source") == site))


def load_listed(bundle: Bundle) -> Loaded:
    """One list of every published headline with its address and label, without ids and dates; blank
    lines are skipped.
    """
    raw = Table.read(bundle, bundle.one("*sharma*.csv", "*fakenewsnet*.csv", "*.csv"))
    records = raw.frame.select(
        text=raw.need("claim", "title"),
        kind=pl.lit("claim"),
        label_raw=raw.need("claim_label", "real", "label").replace(LABELS),
        url=raw.maybe("claim_source", "news_url"),
    )
    return Loaded(records.drop_nulls("text"))


def load_items(bundle: Bundle, site: str | None = None) -> Loaded:
    """The published tables that are present (id, news_url, title, tweet_ids); the tweets become a
    table of their own.

    Copies put their owner's name before the file's; of several copies of a part, the one with the
    published name counts.
    """
    parts = list(_parts(bundle, site))
    if not parts:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds none of the tables with ids and tweets, such as"
            " politifact_fake.csv.",
            "Give the folder 'dataset' of the authors' repository, or choose the variant 'listed'.",
        )
    rows = (
        pl.concat(parts)
        .drop_nulls("item")
        .unique(("item", "label_raw"), keep="first", maintain_order=True)
    )
    rows = rows.with_columns(
        # the label is part of the id: one item is published as both fake and real
        id=pl.format("fakenewsnet-{}-{}", "label_raw", "item"),
        shared=pl.col("tweet_ids").fill_null("").str.extract_all(r"\d+"),
    ).with_columns(tweets=pl.col("shared").list.len())
    records = rows.select(
        *["id", "label_raw", "source"],
        text="title",
        kind=pl.lit("claim"),
        url="news_url",
        group="item",
        meta=meta_column(rows, ["tweets"]),
    )
    tweets = rows.select(record_id="id", tweet_id="shared").explode("tweet_id").drop_nulls()
    return Loaded(records, {"tweets": tweets.with_columns(date=tweet_time(tweets["tweet_id"]))})


def _titles(bundle: Bundle) -> pl.DataFrame:
    """The combined list: GossipCop's rows first, then PolitiFact's. What the site lists hold is
    GossipCop's.
    """
    rows = Table.read(bundle, bundle.one("*fakenewsnet_combined.csv", "*fakenewsnet*.csv")).pick(
        TITLE
    )
    known = [
        Table.read(bundle, name).pick(TITLE).rows()
        for name in bundle.match("*gossipcop_*_final.csv")
    ]
    gossip = {row for part in known for row in part}
    sites = [
        ("gossipcop" if row in gossip else "politifact") if gossip else None for row in rows.rows()
    ]
    return rows.select(
        text="title",
        kind=pl.lit("claim"),
        label_raw=pl.col("label").replace(LABELS),
        **dated({"date column": rows["date"]}),
        source=pl.Series(sites, dtype=pl.String),
    )


def _parts(bundle: Bundle, only: str | None) -> Iterator[pl.DataFrame]:
    for site in SITES if only is None else (only,):
        for label in LABELS.values():
            for name in [
                *bundle.match(f"{site}_{label}.csv"),
                *bundle.match(f"*_{site}_{label}.csv"),
            ]:
                raw = Table.read(bundle, name)
                if all(
                    raw.find(column) for column in ITEM.values()
                ):  # copies without ids cannot be joined to tweets
                    yield raw.pick(ITEM).with_columns(source=pl.lit(site), label_raw=pl.lit(label))
                    break


DATASET = Entry(
    card=Card(
        name="fakenewsnet",
        title="FakeNewsNet",
        summary=(
            "Headlines of political and celebrity news, real or fake by PolitiFact and GossipCop,"
            " with the address of the article and the ids of tweets that share it."
        ),
        size=23_196,
        modality=("articles", "tweets"),
        topic="Politics & Celebrities",
        languages=("eng",),
        access=(
            "Four tables of headlines and tweet ids are in the authors' repository; articles and"
            " tweets must be fetched."
        ),
        homepage="https://github.com/KaiDMML/FakeNewsNet",
        citation=(
            "Shu, Mahudeswaran, Wang, Lee and Liu (2020), FakeNewsNet: A Data Repository with News"
            " Content, Social Context, and Spatiotemporal Information for Studying Fake News on"
            " Social Media, Big Data 8(3)."
        ),
        errata=(
            (
                "98% of the dated headlines at hand are GossipCop's: a score on 'all' is a score on"
                " celebrity gossip."
            ),
            (
                "The dates were fetched again from the articles' pages: they run from 1934 to 2025,"
                " beyond the dataset's own time, so they are not when a story spread."
            ),
            (
                "The labels of GossipCop's real items come from a news site taken as reliable, not"
                " from fact-checks."
            ),
            "One item (politifact14940) is published both as fake and as real.",
            "Headlines repeat: the 10,988 dated ones hold 10,352 distinct titles.",
            (
                "One copy of the list mixes 230 blank lines into the 23,196 headlines (17,441 real,"
                " 5,755 fake)."
            ),
        ),
    ),
    maps={"a5": {"real": "true", "fake": "false"}},
    variants={
        "all": load_view,
        "politifact": partial(load_view, site="politifact"),
        "gossipcop": partial(load_view, site="gossipcop"),
        "listed": load_listed,
        "items": load_items,
    },
    published_rows={"all": 23_196, "listed": 23_196, "items": 23_196},
    real_rows={
        "all": 10_988,
        "politifact": 183,
        "gossipcop": 10_805,
        "listed": 23_196,
        "items": 1_024,
    },
    real_labels={"real": 8_063, "fake": 2_925},
)
