"""FakeNewsNet: headlines checked by PolitiFact and GossipCop, with their addresses and the tweets
that share them.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    UnreadableFile,
    as_text,
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
    return Loaded(rows if site is None else rows.filter(source=site))


def load_listed(bundle: Bundle) -> Loaded:
    """One list of every published headline with its address and label, without ids and dates; blank
    lines are skipped.
    """
    raw = Table.read(bundle, bundle.one("*sharma*.csv", "*fakenewsnet*.csv", "*.csv"))
    records = raw.frame.select(
        text=raw.need("claim", "title"),
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
    titles = [
        Table.read(bundle, name).pick(TITLE).rows()
        for name in bundle.match("*gossipcop_*_final.csv")
    ]
    gossip = {row for part in titles for row in part}
    sites = [
        ("gossipcop" if row in gossip else "politifact") if gossip else None for row in rows.rows()
    ]
    return rows.select(
        text="title",
        label_raw=pl.col("label").replace(LABELS),
        **dated({"date column": rows["date"]}),
        source=as_text(sites),
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
