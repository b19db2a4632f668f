"""ESOC COVID-19: stories of misinformation about the pandemic from all continents, catalogued by
type.
"""

from __future__ import annotations

from itertools import permutations

from claimlab.catalog.datasets._guide import guide
from claimlab.catalog.kit import Card, Entry, both, one_table

EXTRA = {
    "narrative": ("Narrative", "Main_Narrative", "Narrative_Description"),
    "motive": ("Motive",),
    "country": ("Primary_Country", "Country", "Region"),
    "keywords": ("Keywords",),
}


LOAD = one_table(
    "esoc-covid-19",
    "One spreadsheet. Its column names changed between releases; each is looked for under several.",
    files=("ESOC*.csv", "ESOC*.xlsx", "*covid*disinfo*.csv", "*covid*misinfo*.csv", "*covid*.xlsx"),
    id=("Event_ID", "ID", "Story_ID"),
    text=("Summary", "Narrative_Description", "Description", "Title"),
    otherwise=("Title_Translated", "Title (translated)", "Title"),
    label=("Misinfo_Type", "Type", "Type of misinformation", "Label"),
    language=("Primary_Language", "Language"),
    date=("Publication_Date", "Date", "Reported_On"),
    formats=("%m/%d/%Y",),
    source=("Source", "Distrib_Channel", "Distribution_Channel"),
    url=("Primary_Link", "Link", "URL"),
    meta=EXTRA,
)


TYPES = ("conspiracy", "fake remedy", "false reporting")
A5 = {", ".join(chosen): "false" for n in (1, 2, 3) for chosen in permutations(TYPES, n)}
A5 |= {"other": "unknown", "unknown": "unknown"}

DATASET = Entry(
    card=Card(
        name="esoc-covid-19",
        title="ESOC COVID-19",
        summary=(
            "Stories of misinformation about COVID-19 gathered by country experts, each with its"
            " type (false reporting, conspiracy, fake remedy), narrative, motive and channel."
        ),
        size=5_613,
        modality=("claims",),
        topic="Covid-19",
        region="International",
        language_count=35,
        time_start="2020-01-01",
        time_end="2020-12",
        labelling="Human expert",
        access=(
            "Download the dataset and its code book from the Empirical Studies of Conflict project"
            " at Princeton."
        ),
        homepage="https://esoc.princeton.edu/publications/esoc-covid-19-misinformation-dataset",
        citation=(
            "Siwakoti, Yadav, Thange, Bariletto, Zanotti, Ghoneim and Shapiro (2021), Localized"
            " Misinformation in a Global Pandemic: Report on COVID-19 Narratives around the World,"
            " ESOC, Princeton."
        ),
        errata=(
            "It holds misinformation only: one class, so it can neither train nor test a detector.",
            (
                "The guide's Table 4 ends it on 11/2/2020; the report covers stories up to the end"
                " of December 2020."
            ),
            (
                "The column names of the published spreadsheet could not be confirmed for this"
                " entry; each is looked for under several, and the variant 'guide' reads the"
                " guide's release."
            ),
        ),
    ),
    maps=both(A5),
    variants={"stories": LOAD, "guide": guide("esoc-covid-19", "esoc")},
)
