"""BuzzFeedNews: fact-checked posts of nine Facebook pages in one week of the 2016 US campaign; no texts."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.table import Table
from claimlab.catalog.times import dated, utc
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle

META = ["account_id", "Category", "Post Type", "Debate", "share_count", "reaction_count", "comment_count"]


def load(bundle: Bundle) -> Loaded:
    """One CSV; the posts are named by address, their texts are not published."""
    raw = Table.read(bundle, bundle.one("facebook-fact-check.csv"))
    records = raw.frame.select(
        id="buzzfeednews-" + raw.need("post_id"),
        kind=pl.lit("id-only"),
        label_raw=raw.need("Rating"),
        language=pl.lit("eng"),
        **dated({"Date Published column": utc(raw.need("Date Published"))}),
        source=raw.need("Page"),
        url=raw.need("Post URL"),
        meta=raw.meta(META),
    )
    return Loaded(records)


A5 = {
    "mostly true": "true",
    "mostly false": "false",
    "mixture of true and false": "mixed",
    "no factual content": "unknown",
}
HEADER = (
    "account_id,post_id,Category,Page,Post URL,Date Published,Post Type,Rating,Debate,share_count,reaction_count,"
    "comment_count\n"
)

DATASET = Entry(
    card=Card(
        name="buzzfeednews",
        title="BuzzFeedNews",
        summary="Every post of nine Facebook pages (mainstream, left, right) over seven weekdays of September 2016, rated "
        "by BuzzFeed News journalists; addresses and engagement counts, no texts.",
        size=2_282,
        modality=("articles",),
        topic="Election",
        region="USA",
        languages=("eng",),
        time_start="2016-09-19",
        time_end="2016-09-27",
        labelling="Human expert",
        access="Download facebook-fact-check.csv from the GitHub repository of the article.",
        homepage="https://github.com/BuzzFeedNews/2016-10-facebook-fact-check",
        citation="Silverman, Strapagiel, Shaban, Hall and Singer-Vine (2016), Hyperpartisan Facebook Pages Are Publishing "
        "False And Misleading Information At An Alarming Rate, BuzzFeed News.",
        errata=(
            "Listed as news articles in the guide, but the file holds no text: posts must be fetched from Facebook.",
            "Four ratings of one page were corrected in October 2016; older copies of the file differ.",
            "24 and 25 September (a weekend) are not covered, though the stated period includes them.",
        ),
        survey="cdl-listed",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("buzzfeednews/a5", A5)},
    variants={"posts": load},
    sample=Sample(
        files={
            "data/facebook-fact-check.csv": HEADER
            + "11,101,mainstream,Riverton News,https://www.facebook.com/riverton/posts/101,2016-09-19,link,mostly true,,1,33,34\n"
            + '11,102,mainstream,"Riverton News, Late",https://www.facebook.com/riverton/posts/102,2016-09-20,photo,no factual content,,,146,15\n'
            + "12,103,right,Hill Eagle,https://www.facebook.com/hill/posts/103,2016-09-26,video,mostly false,yes,500,90,7\n"
            + "13,104,left,Valley Voice,https://www.facebook.com/valley/posts/104,2016-09-27,text,mixture of true and false,yes,,,\n"
        },
        rows={"posts": 4},
        veracity={"true": 1, "false": 1, "mixed": 1, "unknown": 1},
    ),
    real_rows={"posts": 2_282},
    real_labels={
        "mostly true": 1_669,
        "no factual content": 264,
        "mixture of true and false": 245,
        "mostly false": 104,
    },
)
