"""Italian disinformation: pages and tweets before the European elections of 2019. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="italian-disinformation",
        title="Italian disinformation",
        summary="Articles of Italian disinformation sites and of fact-checkers in the five months before the 2019 "
        "European elections, with the ids of the tweets that shared them.",
        size=16_867,
        modality=("articles", "tweets"),
        topic="Election",
        region="Italy",
        languages=("eng", "ita"),
        time_start="2019-01-01",
        time_end="2019-05-27",
        labelling="Source-based",
        licence="not checked; see the homepage",
        access="Harvard Dataverse, doi:10.7910/DVN/OQHLAJ.",
        homepage="https://doi.org/10.7910/DVN/OQHLAJ",
        citation="Pierri, Artoni and Ceri (2020), Investigating Italian disinformation spreading on Twitter in the "
        "context of 2019 European elections, PLoS ONE 15(1).",
        errata=(
            "The guide's table gives no reference; identified by name, place and dates.",
            "The guide dates the data from 01/01/2019; the deposit says 07/01/2019.",
        ),
        survey="cdl-listed",
    ),
    no_loader="The pages are published as Python pickles, which can run code when opened and are never read here; the "
    "tweets are ids only.",
)
