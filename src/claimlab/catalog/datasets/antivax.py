"""ANTiVax: ids of tweets about Covid-19 vaccines, marked as misinformation or not."""

from __future__ import annotations

from claimlab.catalog.kit import Card, Entry, both, one_table

LOAD = one_table(
    "antivax",
    "One CSV of ids and labels; the texts must be fetched. The unlabelled weekly files beside it"
    " are not read.",
    files=("VaxMisinfoData.csv", "*misinfo*.csv"),
    id="id",
    tweet_id="id",
    label="is_misinfo",
)


VERDICTS = {"0": "true", "1": "false"}

DATASET = Entry(
    card=Card(
        name="antivax",
        title="ANTiVax",
        summary=(
            "Tweets about Covid-19 vaccines by id, of which some 15,000 were marked by people as"
            " misinformation or not."
        ),
        size=15_465_687,
        modality=("claims",),
        topic="Health",
        region="USA",
        languages=("eng",),
        time_start="2020-12-01",
        time_end="2021-07-31",
        labelling="Human expert",
        licence=None,
        access=(
            "Download Labeled/VaxMisinfoData.csv from the authors' repository and fetch the texts"
            " by tweet id."
        ),
        homepage="https://github.com/sakibsh/ANTiVax",
        citation=(
            "Hayawi, Shahriar, Serhani, Taleb and Mathew (2022), ANTi-Vax: a novel Twitter dataset"
            " for COVID-19 vaccine misinformation detection, Public Health 203."
        ),
        errata=(
            (
                "The guide's label shares are swapped: 9,322 of 15,073 labelled tweets (61.85%) are"
                " NOT misinformation, and 5,751 (38.15%) are."
            ),
            (
                "The guide's table gives the start as 01/12/2021, after the end: a misprint for"
                " 2020, as its own text has it. The labelled ids run from 2020-12-23 to 2021-07-09."
            ),
            "The size counts the unlabelled tweets; 15,073 are labelled.",
            (
                "'Not misinformation' is all that states nothing false, humour and sarcasm"
                " included: reading it as true is generous."
            ),
        ),
    ),
    maps=both(VERDICTS),
    variants={"labelled": LOAD},
    real_rows={"labelled": 15_073},
    real_labels={"0": 9_322, "1": 5_751},
)
