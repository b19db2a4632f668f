"""FCV-2018: the Fake Video Corpus. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="fcv-2018",
        title="FCV-2018 (Fake Video Corpus)",
        summary="Debunked and verified user-generated videos from YouTube, Facebook and Twitter, with the links of "
        "their near-duplicates.",
        size=380,
        modality=("videos",),
        topic="Various",
        region="International",
        language_count=5,
        time_start="2016",
        time_end="2017",
        labelling="Human expert",
        licence="not checked; see the homepage",
        access="Links of videos, from the authors' repository.",
        homepage="https://mklab.iti.gr/results/fake-video-corpus/",
        citation="Papadopoulou, Zampoglou, Papadopoulos and Kompatsiaris (2019), A corpus of debunked and verified "
        "user-generated videos, Online Information Review 43(1).",
        survey="cdl-listed",
    ),
    no_loader="Not a text dataset: links of videos.",
)
