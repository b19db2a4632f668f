"""COVID-19-Rumor: claims about the pandemic from news sites and Twitter, labelled true, false or
unverified.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit


def load_curated(bundle: kit.Bundle) -> kit.Loaded:
    """`news.csv` (no header) and `Twitter.csv` (a header), without the repeats. The numbers in
    Twitter.csv are not tweet ids.
    """
    lists = kit.lists_of("covid-19-rumor")
    columns = [*lists["needed"], "sentiment"]
    news = kit.Table.read(
        bundle, bundle.one("news/news.csv", "news.csv"), delimiter=",", columns=columns
    ).pick(columns)
    if news.height and (news["label"][0] or "").lower() == "label":
        news = news.slice(1)  # copies with a header circulate
    tweets = kit.Table.read(bundle, bundle.one("twitter/Twitter.csv", "twitter.csv")).pick(
        lists["needed"], lists["optional"]
    )
    rows = pl.concat(
        [news.with_columns(part=pl.lit("news")), tweets.with_columns(part=pl.lit("twitter"))],
        how="diagonal",
    ).with_columns(pl.col("sentiment").replace({"#VALUE!": None}))
    records = rows.select(
        id=kit.unique_ids("covid-19-rumor", rows["part"] + "-" + rows["number"]),
        text="content",
        label_raw="label",
        source="part",
        meta=kit.meta_column(rows, list(lists["optional"])),
    )
    return kit.Loaded(records)
