"""Fact-check-tweet: tweets matched to fact-checks in four languages. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="fact-check-tweet",
        title="Fact-check-tweet",
        summary="Pairs of a tweet and a fact-check, marked as matching or not, for finding earlier fact-checks of a "
        "claim within and across languages.",
        size=13_070,
        modality=("articles", "tweets"),
        topic="Various",
        region="International",
        languages=("eng", "hin", "por", "spa"),
        language_count=4,
        labelling="Links in fact-checks, checked by people",
        licence="not checked; see the paper",
        access="From the authors, through the paper.",
        homepage="https://arxiv.org/abs/2202.07094",
        citation="Kazemi, Li, Pérez-Rosas, Hale and Mihalcea (2022), Matching Tweets With Applicable Fact-Checks Across "
        "Languages, De-Factify workshop at AAAI.",
        errata=(
            "The guide's table gives no reference and only the number of languages; identified by name and content.",
        ),
        has_evidence=True,
        survey="cdl-listed",
    ),
    no_loader="Its labels say whether a tweet and a fact-check belong together, not whether anything is true; tweets "
    "are ids only.",
)
