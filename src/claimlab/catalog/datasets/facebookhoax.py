"""FacebookHoax: who liked which post. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="facebookhoax",
        title="FacebookHoax",
        summary="Posts of scientific and of conspiracy pages on Facebook with the users who liked them, to tell hoaxes "
        "by their audience.",
        size=15_500,
        modality=("posts",),
        topic="Hoaxes",
        languages=("ita",),
        time_start="2016-07-01",
        time_end="2016-12-31",
        labelling="Source-based",
        licence="MIT (code)",
        access="The repository holds the code that collected the data from Facebook, and the list of pages.",
        homepage="https://github.com/gabll/some-like-it-hoax",
        citation="Tacchini, Ballarin, Della Vedova, Moret and de Alfaro (2017), Some Like it Hoax: Automated Fake News "
        "Detection in Social Networks, arXiv:1704.07506.",
        errata=(
            "The guide's table gives English; the pages are Italian.",
            "A post is a hoax when its page is a conspiracy page: the page gives the label away.",
        ),
        survey="cdl-listed",
    ),
    no_loader="Not a text dataset: it is a table of users and the posts they liked, to be collected anew from an "
    "interface that Facebook has closed.",
)
