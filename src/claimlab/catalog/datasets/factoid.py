"""FACTOID: Reddit users who spread misinformation. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="factoid",
        title="FACTOID",
        summary="The posts of some 4,150 Reddit users in political discussions, each user labelled by the factuality "
        "and the political bias of the sites they link to.",
        size=3_354_450,
        modality=("posts",),
        topic="Politics",
        region="USA",
        languages=("eng",),
        time_start="2020-01",
        time_end="2021-04",
        labelling="Source-based, per user",
        licence=None,
        access="A shared drive folder linked from the repository; texts must be fetched from Reddit by id.",
        homepage="https://github.com/caisa-lab/FACTOID-dataset",
        citation="Sakketou, Plepi, Cervero, Geiss, Rosso and Flek (2022), FACTOID: A New Dataset for Identifying "
        "Misinformation Spreaders and Political Bias, LREC.",
        errata=("The paper rounds to 3.4 million posts, the repository to 3.3 million.",),
        survey="cdl-listed",
    ),
    no_loader="Labels belong to users, not to texts; the texts are left out of the release and the rest is a Python "
    "pickle, which can run code when opened and is never read here.",
)
