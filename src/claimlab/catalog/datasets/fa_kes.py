"""FA-KES: news articles on the Syrian war, checked by crowd workers against a record of
casualties.
"""

from __future__ import annotations

from claimlab.catalog.kit import Card, Entry, both, one_table

TITLE = ("article_title", "title")


LOAD = one_table(
    "fa-kes",
    "One CSV in latin-1 (copies in UTF-8 circulate), month first in its dates.",
    files=("FA-KES-Dataset.csv", "FA-KES*.csv", "FA_KES*.csv", "FINAL LABELED ARTICLES.csv"),
    western=True,
    id=("unit_id", "id"),
    text=("article_content", "content", "text"),
    otherwise=TITLE,
    kind="article",
    label=("labels", "label"),
    date="date",
    formats=("%m/%d/%Y",),
    source="source",
    meta={"title": TITLE, "location": "location"},
)


A5 = {"1": "true", "0": "false", "true": "true", "fake": "false", "false": "false"}

DATASET = Entry(
    card=Card(
        name="fa-kes",
        title="FA-KES",
        summary=(
            "News articles on incidents of the Syrian war from outlets of many leanings, labelled"
            " by comparing their facts with the Violations Documentation Center's records."
        ),
        size=804,
        modality=("articles",),
        topic="Syrian war",
        region="Syria",
        languages=("eng",),
        time_start="2011",
        time_end="2018",
        labelling="crowd-sourced",
        licence="CC BY",
        access="Download FA-KES-Dataset.csv from Zenodo, record 2607278.",
        homepage="https://doi.org/10.5281/zenodo.2607278",
        citation=(
            "Abu Salem, Al Feel, Elbassuoni, Jaber and Farah (2019), FA-KES: A Fake News Dataset"
            " around the Syrian War, ICWSM."
        ),
        errata=(
            "The file is latin-1; read as UTF-8 it fails, or loses characters.",
            (
                "Its temporal score in the guide's Table 8 matches a true hold-out, unlike the"
                " tweet-id rows beside it, which were fitted on their own test rows."
            ),
            (
                "Many texts open with their date and close with the agency's name, so the outlet"
                " and the day can be read from the text."
            ),
            (
                "The guide describes it as drawn from fact-checking sites in several languages; the"
                " articles are English news."
            ),
        ),
    ),
    maps=both(A5),
    variants={"articles": LOAD},
)
