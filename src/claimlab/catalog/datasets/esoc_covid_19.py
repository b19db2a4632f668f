"""ESOC COVID-19: stories of misinformation about the pandemic from all continents, catalogued by type."""

from __future__ import annotations

from itertools import permutations

import polars as pl

from claimlab.catalog.card import Card, Quality, Shares
from claimlab.catalog.columns import languages
from claimlab.catalog.datasets._guide import guide, made_up
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.ids import unique_ids
from claimlab.catalog.table import Table
from claimlab.catalog.times import dated, utc
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle

EXTRA = {
    "narrative": ("Narrative", "Main_Narrative", "Narrative_Description"),
    "motive": ("Motive",),
    "country": ("Primary_Country", "Country", "Region"),
    "keywords": ("Keywords",),
}


def load(bundle: Bundle) -> Loaded:
    """One spreadsheet. Its column names changed between releases; each is looked for under several."""
    name = bundle.one("ESOC*.csv", "ESOC*.xlsx", "*covid*disinfo*.csv", "*covid*misinfo*.csv", "*covid*.xlsx")
    raw = Table.read(bundle, name)
    title = raw.maybe("Title_Translated", "Title (translated)", "Title")
    published = raw.maybe("Publication_Date", "Date", "Reported_On")
    records = raw.frame.select(
        id=unique_ids("esoc-covid-19", raw.maybe("Event_ID", "ID", "Story_ID")),
        text=raw.need("Summary", "Narrative_Description", "Description", "Title").fill_null(title),
        kind=pl.lit("claim"),
        label_raw=raw.need("Misinfo_Type", "Type", "Type of misinformation", "Label"),
        language=languages(raw.maybe("Primary_Language", "Language")),
        **dated({"date column": utc(published, "%m/%d/%Y")}),
        source=raw.maybe("Source", "Distrib_Channel", "Distribution_Channel"),
        url=raw.maybe("Primary_Link", "Link", "URL"),
        meta=raw.meta(EXTRA),
    )
    return Loaded(records)


TYPES = ("conspiracy", "fake remedy", "false reporting")
A5 = {", ".join(chosen): "false" for n in (1, 2, 3) for chosen in permutations(TYPES, n)}
A5 |= {"other": "unknown", "unknown": "unknown"}

DATASET = Entry(
    card=Card(
        name="esoc-covid-19",
        title="ESOC COVID-19",
        summary="Stories of misinformation about COVID-19 gathered by country experts, each with its type (false reporting, conspiracy, fake remedy), narrative, motive and channel.",
        size=5_613,
        modality=("claims",),
        topic="Covid-19",
        region="International",
        language_count=35,
        time_start="2020-01-01",
        time_end="2020-12",
        labelling="Human expert",
        shares=Shares(false=99.52, unknown=0.48),
        quality=Quality(feasibility="fail"),
        access="Download the dataset and its code book from the Empirical Studies of Conflict project at Princeton.",
        homepage="https://esoc.princeton.edu/publications/esoc-covid-19-misinformation-dataset",
        citation="Siwakoti, Yadav, Thange, Bariletto, Zanotti, Ghoneim and Shapiro (2021), Localized Misinformation in a Global Pandemic: Report on COVID-19 Narratives around the World, ESOC, Princeton.",
        errata=(
            "It holds misinformation only: one class, so it can neither train nor test a detector.",
            "The guide's Table 4 ends it on 11/2/2020; the report covers stories up to the end of December 2020.",
            "The column names of the published spreadsheet could not be confirmed for this entry; each is looked for under several, and the variant 'guide' reads the guide's release.",
        ),
        survey="cdl-claims",
    ),
    maps={"a5": LabelMap("esoc-covid-19/a5", A5), "cdl": LabelMap("esoc-covid-19/cdl", A5)},
    variants={"stories": load, "guide": guide("esoc-covid-19", "esoc")},
    sample=Sample(
        files={
            "ESOC_COVID-19_Misinformation_Dataset.csv": "Event_ID,Publication_Date,Primary_Link,Title,Summary,Misinfo_Type,Narrative,Motive,Primary_Country,Primary_Language,Distrib_Channel\n"
            "E1,4/2/2020,https://n.example/1,Agua de luna,Moon water is sold as a cure.,fake remedy,Moon water,Financial,Peru,Spanish,Facebook\n"
            'E2,5/9/2020,https://n.example/2,Towers,Towers are said to spread the virus.,"conspiracy, false reporting",Towers,Fear,Kenya,Swahili,WhatsApp\n'
            "E3,,,A story without a summary,,false reporting,,,,,\n",
            **made_up(
                "esoc",
                {"claim": "moon water is sold as a cure.", "label": "fake remedy"},
                {"claim": "towers spread the virus.", "label": "conspiracy"},
            ),
        },
        rows={"stories": 3, "guide": 2},
        veracity={"false": 3},
    ),
)
