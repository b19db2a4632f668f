"""BuzzFeedNews: fact-checked posts of nine Facebook pages in one week of the 2016 US campaign; no
texts.
"""

from __future__ import annotations

from claimlab.catalog.kit import Card, Entry, one_table

META = [
    "account_id",
    "Category",
    "Post Type",
    "Debate",
    "share_count",
    "reaction_count",
    "comment_count",
]


LOAD = one_table(
    "buzzfeednews",
    "One CSV; the posts are named by address, their texts are not published.",
    files=("facebook-fact-check.csv",),
    id="post_id",
    label="Rating",
    date="Date Published",
    source="Page",
    url="Post URL",
    meta=META,
)


A5 = {
    "mostly true": "true",
    "mostly false": "false",
    "mixture of true and false": "mixed",
    "no factual content": "unknown",
}

DATASET = Entry(
    card=Card(
        name="buzzfeednews",
        title="BuzzFeedNews",
        summary=(
            "Every post of nine Facebook pages (mainstream, left, right) over seven weekdays of"
            " September 2016, rated by BuzzFeed News journalists; addresses and engagement counts,"
            " no texts."
        ),
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
        citation=(
            "Silverman, Strapagiel, Shaban, Hall and Singer-Vine (2016), Hyperpartisan Facebook"
            " Pages Are Publishing False And Misleading Information At An Alarming Rate, BuzzFeed"
            " News."
        ),
        errata=(
            (
                "Listed as news articles in the guide, but the file holds no text: posts must be"
                " fetched from Facebook."
            ),
            (
                "Four ratings of one page were corrected in October 2016; older copies of the file"
                " differ."
            ),
            (
                "24 and 25 September (a weekend) are not covered, though the stated period includes"
                " them."
            ),
        ),
    ),
    maps={"a5": A5},
    variants={"posts": LOAD},
    real_rows={"posts": 2_282},
    real_labels={
        "mostly true": 1_669,
        "no factual content": 264,
        "mixture of true and false": 245,
        "mostly false": 104,
    },
)
