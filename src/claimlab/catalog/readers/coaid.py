"""CoAID: news and claims about Covid-19 in dated folders, with the tweets about them and the
replies to those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    dated,
    lists_of,
    members,
    meta_column,
    utc,
)

NAME = re.compile(
    r"(?:(\d{1,2})[-:_](\d{1,2})[-:_](\d{4})/)?(News|Claim)(Fake|Real)COVID-19\.csv$", re.IGNORECASE
)
NEEDED = ["title", "news_url", "fact_check_url"]
OPTIONAL: list[str] = lists_of("coaid")["optional"]
DATES = ("%m/%d/%y", "%m/%d/%y %H:%M", "%d-%b-%y", "%b %d, %Y at %I:%M%p", "%B %d, %Y at %I:%M %p")


def load(bundle: Bundle) -> Loaded:
    """One row per news item or claim; the label is in the file's name. The date is `publish_date`,
    where there is one.
    """
    items = pl.concat([item for _, item in read_items(bundle)])
    is_page = pl.col("fact_check_url").str.contains(
        "://"
    )  # a fact-check's address; else the domain of a trusted source
    records = items.select(
        *["id", "label_raw"],
        text="title",
        **dated(
            {"publish_date column": published(items["publish_date"])}, written=items["publish_date"]
        ),
        source=pl.when(~is_page).then("fact_check_url"),
        url="news_url",
        meta=meta_column(items, ["part", "snapshot", "fact_check_url", *OPTIONAL]),
    )
    evidence = items.filter(is_page).select(
        record_id="id",
        evidence_id=pl.col("id") + "-fact-check",
        rank=pl.lit(1),
        url="fact_check_url",
        provider=pl.lit("fact_check_url"),
    )
    return Loaded(records, {"evidence": evidence})


def load_engagements(bundle: Bundle) -> Loaded:
    """One row per item, tweet and reply, items and tweets without any kept; the text is the item's.

    Replies are joined by tweet alone, as published protocols do, though the file also names the
    item: a tweet about two items brings its replies to both. The date is the folder's, the only one
    that every item has.
    """
    parts = []
    for name, items in read_items(bundle):
        tweets = related(bundle, name, "_tweets", ["index", "tweet_id"])
        replies = related(bundle, name, "_tweets_replies", ["tweet_id", "reply_id"])
        rows = items.select("id", "index", "title", "label_raw", "news_url", "part", "snapshot")
        joined = rows.join(tweets, on="index", how="left", maintain_order="left_right")
        parts.append(joined.join(replies, on="tweet_id", how="left", maintain_order="left_right"))
    joined = pl.concat(parts)
    records = joined.select(
        "label_raw",
        id=pl.format("{}-{}", "id", pl.int_range(1, pl.len() + 1).over("id")),
        text="title",
        **dated({"snapshot folder": joined["snapshot"]}),
        tweet_id="tweet_id",
        url="news_url",
        group="id",
        meta=meta_column(joined, ["part", "reply_id"]),
    )
    return Loaded(
        records, notes=["The text repeats for every engagement of an item: split by group."]
    )


def read_items(bundle: Bundle) -> Iterator[tuple[str, pl.DataFrame]]:
    """The item files in order, each with `index` (what tweets refer to), `part`, `label_raw`,
    `snapshot` and `id`.
    """
    for name in members(bundle, "*COVID-19.csv"):
        match = NAME.search(name)
        if match is None:
            continue
        month, day, year, part, label = match.groups()
        snapshot = f"{year}-{int(month):02}-{int(day):02}" if year else None
        raw = Table.read(bundle, name)
        index = raw.need(raw.frame.columns[0])  # it has no name
        stem = "-".join(filter(None, ["coaid", snapshot, part.lower(), label.lower()]))
        rows = raw.pick(NEEDED, OPTIONAL).with_columns(
            id=f"{stem}-" + index,
            index=index,
            part=pl.lit(part.lower()),
            label_raw=pl.lit(label.lower()),
            snapshot=pl.lit(snapshot, pl.String),
        )
        yield name, rows


def related(bundle: Bundle, name: str, ending: str, columns: list[str]) -> pl.DataFrame:
    """The tweets or replies of an item file; an empty table where that file is not there."""
    wanted = re.sub(r"\.csv$", f"{ending}.csv", name, flags=re.IGNORECASE)
    if wanted not in bundle.names():
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    return Table.read(bundle, wanted).pick(columns)


def published(written: pl.Series) -> pl.Series:
    """UTC times of the notations that `publish_date` mixes; null for those that name no day ("3
    months ago").
    """
    zoned = written.str.replace("PDT", "-0700").str.replace("PST", "-0800")
    return utc(zoned, *DATES, *(f"{d} %z" for d in DATES))
