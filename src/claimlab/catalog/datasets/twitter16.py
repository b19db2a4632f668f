"""Twitter16: source tweets of rumours and news, four classes; the twin of Twitter15, in the same
layout.
"""

from __future__ import annotations

from claimlab.catalog.datasets._guide import guide
from claimlab.catalog.datasets._rumdetect import rumdetect
from claimlab.catalog.kit import Card, Entry, both

A5 = {"true": "true", "non-rumor": "true", "false": "false", "unverified": "unknown"}

DATASET = Entry(
    card=Card(
        name="twitter16",
        title="Twitter16",
        summary=(
            "Source tweets of rumours that Snopes had checked and of news accounts: true, false,"
            " unverified or no rumour at all."
        ),
        size=818,
        modality=("claims", "tweets"),
        topic="Various",
        languages=("eng",),
        time_start="2015-03",
        time_end="2016-12",
        labelling="Human expert",
        access=(
            "Download rumdetect2017.zip, linked from the authors' repository Rumor_RvNN; the events"
            " are in Twitter16_label_All.txt there."
        ),
        homepage="https://github.com/majingCUHK/Rumor_RvNN",
        citation=(
            "Ma, Gao and Wong (2017), Detect Rumors in Microblog Posts Using Propagation Structure"
            " via Kernel Learning, ACL."
        ),
        errata=(
            (
                "Classes were collected at different times and from different places: the first"
                " digits of the tweet id, or the origin in Twitter16_label_All.txt (IJCAI,"
                " PLOS_ONE, snopes, news_account), nearly give the class away."
            ),
            (
                "As in Twitter15, where every event has a single class, splits must keep events"
                " together (column 'group'; for non-rumours it is the news account)."
            ),
            "The guide's notebook prints 96.5 for the temporal score; its table says 95.9.",
        ),
    ),
    maps=both(A5),
    variants={
        "texts": rumdetect("twitter16"),
        "guide": guide("twitter16", "twitter16", kind="post", language="eng"),
    },
    published_rows={"guide": 818},
)
