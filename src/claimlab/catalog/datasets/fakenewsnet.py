"""FakeNewsNet: headlines checked by PolitiFact and GossipCop, with their addresses and the tweets that share them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.datasets._columns import part_of, pick, with_dates
from claimlab.catalog.datasets._tweets import sent_at
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.errors import UnreadableFile
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_delimited

SITES = ("politifact", "gossipcop")
LABELS = {"1": "real", "0": "fake"}  # as the title lists write them
SIZE = 23_196


def load_view(bundle: Bundle, site: str | None = None) -> Loaded:
    """All headlines or those of one site: the four published tables, or else the dated title lists that circulate."""
    if all(bundle.match(f"{s}_{label}.csv") for s in SITES for label in LABELS.values()):
        return load_items(bundle, site)
    rows = _titles(bundle)
    chosen = rows if site is None else rows.filter(pl.col("source") == site)
    return Loaded(with_dates(chosen), notes=part_of(chosen.height, SIZE, "headlines") if site is None else [])


def load_listed(bundle: Bundle) -> Loaded:
    """One list of every published headline with its address and label, without ids and dates; blank lines are skipped."""
    name = bundle.one("*sharma*.csv", "*fakenewsnet*.csv", "*.csv")
    raw = read_delimited(bundle.text(name))
    rows = pick(
        raw,
        name,
        {"text": ("claim", "title"), "label_raw": ("claim_label", "real", "label")},
        {"url": ("claim_source", "news_url")},
    )
    rows = rows.filter(pl.col("text").str.strip_chars() != "").with_columns(
        pl.col("text").str.strip_chars(),
        pl.col("label_raw").replace(LABELS),
        pl.lit("claim").alias("kind"),
        pl.lit("eng").alias("language"),
    )
    return Loaded(rows, notes=part_of(rows.height, SIZE, "headlines"))


def load_items(bundle: Bundle, site: str | None = None) -> Loaded:
    """The published tables that are present (id, news_url, title, tweet_ids); the tweets become a table of their own.

    Copies put their owner's name before the file's; of several copies of a part, the one with the published name counts.
    """
    parts = list(_parts(bundle, site))
    if not parts:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds none of the tables with ids and tweets, such as politifact_fake.csv.",
            "Give the folder 'dataset' of the authors' repository, or choose the variant 'listed'.",
        )
    rows = pl.concat(parts).filter(pl.col("item").str.strip_chars() != "")
    rows = rows.unique(("item", "label_raw"), keep="first", maintain_order=True)
    rows = rows.with_columns(
        # the label is part of the id: one item is published as both fake and real
        pl.format("fakenewsnet-{}-{}", "label_raw", "item").alias("id"),
        pl.col("tweet_ids").str.strip_chars().str.extract_all(r"\d+").alias("shared"),
    ).with_columns(pl.col("shared").list.len().alias("tweets"))
    records = rows.select(
        "id",
        pl.col("title").str.strip_chars().alias("text"),
        pl.lit("claim").alias("kind"),
        "label_raw",
        pl.lit("eng").alias("language"),
        "source",
        pl.col("news_url").alias("url"),
        pl.col("item").alias("group"),
        meta_column(rows, ["tweets"]).alias("meta"),
    )
    tweets = (
        rows.select(pl.col("id").alias("record_id"), pl.col("shared").alias("tweet_id"))
        .explode("tweet_id")
        .drop_nulls()
    )
    return Loaded(
        records,
        {"tweets": tweets.with_columns(date=sent_at(tweets["tweet_id"]))},
        part_of(records.height, SIZE, "headlines") if site is None else [],
    )


def _titles(bundle: Bundle) -> pl.DataFrame:
    """The combined list: GossipCop's rows first, then PolitiFact's. What the site lists hold is GossipCop's."""
    name = bundle.one("*fakenewsnet_combined.csv", "*fakenewsnet*.csv")
    spelt = {"label": "label", "text": "title", "date": "date"}
    rows = pick(read_delimited(bundle.text(name)), name, spelt)
    known = [pick(read_delimited(bundle.text(n)), n, spelt).rows() for n in bundle.match("*gossipcop_*_final.csv")]
    gossip = {row for part in known for row in part}
    sites = [("gossipcop" if row in gossip else "politifact") if gossip else None for row in rows.rows()]
    return rows.select(
        pl.col("text").str.strip_chars(),
        pl.col("label").replace(LABELS).alias("label_raw"),
        "date",
        pl.Series("source", sites, dtype=pl.String),
        pl.lit("claim").alias("kind"),
        pl.lit("eng").alias("language"),
    )


def _parts(bundle: Bundle, only: str | None) -> Iterator[pl.DataFrame]:
    needed = {"item": "id", "news_url": "news_url", "title": "title", "tweet_ids": "tweet_ids"}
    for site in SITES if only is None else (only,):
        for label in LABELS.values():
            for name in [*bundle.match(f"{site}_{label}.csv"), *bundle.match(f"*_{site}_{label}.csv")]:
                raw = read_delimited(bundle.text(name))
                if not set(needed.values()) <= {c.lower() for c in raw.columns}:
                    continue  # copies without ids cannot be joined to tweets
                part = pick(raw, name, needed)
                yield part.with_columns(pl.lit(site).alias("source"), pl.lit(label).alias("label_raw"))
                break


DATASET = Entry(
    card=Card(
        name="fakenewsnet",
        title="FakeNewsNet",
        summary="Headlines of political and celebrity news, real or fake by PolitiFact and GossipCop, with the address of the "
        "article and the ids of tweets that share it.",
        size=SIZE,
        modality=("articles", "tweets"),
        topic="Politics & Celebrities",
        languages=("eng",),
        access="Four tables of headlines and tweet ids are in the authors' repository; articles and tweets must be fetched.",
        homepage="https://github.com/KaiDMML/FakeNewsNet",
        citation="Shu, Mahudeswaran, Wang, Lee and Liu (2020), FakeNewsNet: A Data Repository with News Content, Social Context, "
        "and Spatiotemporal Information for Studying Fake News on Social Media, Big Data 8(3).",
        errata=(
            "98 % of the dated headlines at hand are GossipCop's: a score on 'all' is a score on celebrity gossip.",
            "The dates were fetched again from the articles' pages: they run from 1934 to 2025, beyond the dataset's own time, so "
            "they are not when a story spread.",
            "The labels of GossipCop's real items come from a news site taken as reliable, not from fact-checks.",
            "One item (politifact14940) is published both as fake and as real.",
            "Headlines repeat: the 10,988 dated ones hold 10,352 distinct titles.",
            "One copy of the list mixes 230 blank lines into the 23,196 headlines (17,441 real, 5,755 fake).",
        ),
        survey="cdl-listed",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("fakenewsnet/a5", {"real": "true", "fake": "false"})},
    variants={
        "all": load_view,
        "politifact": partial(load_view, site="politifact"),
        "gossipcop": partial(load_view, site="gossipcop"),
        "listed": load_listed,
        "items": load_items,
    },
    sample=Sample(
        files={
            "ko_FakeNewsNet_combined.csv": "label,title,date\n"
            "0,Singer marries a lamp post,2018-06-22 15:58:20+01:00\n"
            '1,"Actor opens ""school"", pays teachers",2017-06-04 14:54:21.647000+00:00\n'
            "1,Actor visits Riverton,2018-01-12 00:00:00\n"
            "0,Mayor bans rain,\n",
            "ko_gossipcop_fake_final.csv": "label,title,date\n0,Singer marries a lamp post,2018-06-22 15:58:20+01:00\n",
            "ko_gossipcop_real_final.csv": "label,title,date\n"
            '1,"Actor opens ""school"", pays teachers",2017-06-04 14:54:21.647000+00:00\n'
            "1,Actor visits Riverton,2018-01-12 00:00:00\n",
            "politifact_fake.csv": "id,news_url,title,tweet_ids\n"
            "politifact1,example.org/rain,Mayor bans rain,937000000000000001\t937000000000000002\n"
            "politifact2,,River runs dry twice,\n",
            "copy_politifact_fake.csv": "id,news_url,title,tweet_ids\npolitifact1,example.org/rain,Mayor bans rain,937000000000000001\n",
            "copy_politifact_real.csv": 'id,news_url,title,tweet_ids\npolitifact3,http://example.org/,Town budget,"937000000000000003\t278000001"\n'
            ",,,\n",
            "copy_gossipcop_fake.csv": "news_url,title\nexample.org/lamp,Singer marries a lamp post\n",
            "sharma_gossipcop_real.csv": "claim_source,claim,claim_label\r\nhttps://example.org/a,Actor visits Riverton,1\r\n,,\r\n,,1\r\n"
            ",Singer marries a lamp post,0\r\n",
        },
        rows={"all": 4, "politifact": 1, "gossipcop": 3, "listed": 2, "items": 3},
        veracity={"true": 2, "false": 2},
    ),
    real_rows={"all": 10_988, "politifact": 183, "gossipcop": 10_805, "listed": 23_196, "items": 1_024},
    real_labels={"real": 8_063, "fake": 2_925},
)
