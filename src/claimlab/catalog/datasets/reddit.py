"""Reddit: fact-checked claims with the discussions they caused. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="reddit",
        title="Reddit (Truth be Told)",
        summary="Claims rated by Snopes, PolitiFact and Emergent, or taken from Twitter rumour sets, with over 662,000 "
        "comments about them on Reddit.",
        size=12_597,
        modality=("posts", "claims"),
        topic="Various",
        region="USA",
        languages=("eng",),
        labelling="Human expert",
        licence="not checked; see the paper",
        access="From the authors, through the paper.",
        homepage="https://doi.org/10.1145/3340531.3417463",
        citation="Setty and Rekve (2020), Truth be Told: Fake News Detection Using User Reactions on Reddit, CIKM.",
        errata=(
            "The guide's table gives no reference; identified by its size: the paper has exactly 12,597 claims, 63 % fake.",
            "The guide files it under posts; the labels belong to the claims, the posts are the reactions.",
        ),
        survey="cdl-listed",
    ),
    no_loader="The published files have not been met and their layout is not documented.",
)
