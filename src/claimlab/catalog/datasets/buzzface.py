"""BuzzFace: the Facebook comments under BuzzFeed's fact-checked posts. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="buzzface",
        title="BuzzFace",
        summary="The comments, plugin comments and article pages around the 2,282 Facebook posts of nine outlets that "
        "BuzzFeed rated in September 2016.",
        size=1_176_713,
        modality=("posts",),
        topic="Election",
        region="USA",
        languages=("eng",),
        time_start="2016-09-01",
        time_end="2016-09-30",
        labelling="Human expert (BuzzFeed's journalists)",
        licence=None,
        access="The repository holds scripts that collect the data anew from Facebook and Disqus with one's own keys.",
        homepage="https://github.com/gsantia/BuzzFace",
        citation="Santia and Williams (2018), BuzzFace: A News Veracity Dataset with Facebook User Commentary and Egos, "
        "ICWSM.",
        errata=(
            "Printed as 'BuzzFate' in the guide's table.",
            "The guide counts 1,176,713 items; the repository speaks of nearly 1.7 million comments.",
        ),
        survey="cdl-listed",
    ),
    no_loader="Nothing but post ids and ratings is published: texts must be collected from an interface that Facebook "
    "has closed. The ratings themselves are the dataset 'buzzfeednews'.",
)
