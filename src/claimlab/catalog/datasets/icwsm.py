"""ICWSM: fact-checked WhatsApp images. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="icwsm",
        title="ICWSM (WhatsApp images)",
        summary="Images shared in public WhatsApp groups during the Brazilian and Indian elections, checked by "
        "fact-checkers or journalists.",
        size=2_500,
        modality=("images",),
        topic="Election",
        region="Brazil & India",
        language_count=10,
        time_start="2018-10",
        time_end="2019-06",
        labelling="Human expert",
        licence="not checked; see the homepage",
        access="Zenodo, through the paper.",
        citation="Reis, Melo, Garimella, Almeida, Eckles and Benevenuto (2020), A Dataset of Fact-Checked Images Shared "
        "on WhatsApp During the Brazilian and Indian Elections, ICWSM.",
        errata=(
            "The guide names it after the conference and gives no reference; identified by place, topic and dates.",
        ),
        survey="cdl-listed",
    ),
    no_loader="Not a text dataset: the claims are in the images.",
)
