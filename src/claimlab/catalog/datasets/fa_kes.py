"""FA-KES: news articles on the Syrian war, checked by crowd workers against a record of casualties."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.ids import unique_ids
from claimlab.catalog.table import Table
from claimlab.catalog.times import dated, utc
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle

TITLE = ("article_title", "title")


def load(bundle: Bundle) -> Loaded:
    """One CSV in latin-1 (copies in UTF-8 circulate), month first in its dates."""
    name = bundle.one("FA-KES-Dataset.csv", "FA-KES*.csv", "FA_KES*.csv", "FINAL LABELED ARTICLES.csv")
    raw = Table.read(bundle, name, western=True)
    records = raw.frame.select(
        id=unique_ids("fa-kes", raw.maybe("unit_id", "id")),
        text=raw.need("article_content", "content", "text").fill_null(raw.maybe(*TITLE)),
        kind=pl.lit("article"),
        label_raw=raw.need("labels", "label").str.strip_suffix(".0"),
        language=pl.lit("eng"),
        **dated({"date column": utc(raw.maybe("date"), "%m/%d/%Y")}),
        source=raw.maybe("source"),
        meta=raw.meta({"title": TITLE, "location": "location"}),
    )
    return Loaded(records)


A5 = {"1": "true", "0": "false", "true": "true", "fake": "false", "false": "false"}

DATASET = Entry(
    card=Card(
        name="fa-kes",
        title="FA-KES",
        summary="News articles on incidents of the Syrian war from outlets of many leanings, labelled by comparing their facts with the Violations Documentation Center's records.",
        size=804,
        modality=("articles",),
        topic="Syrian war",
        region="Syria",
        languages=("eng",),
        time_start="2011",
        time_end="2018",
        labelling="crowd-sourced",
        shares=Shares(true=52.99, false=47.01),
        quality=Quality(keywords="pass", temporal="pass", feasibility="pass"),
        published=Published(keywords_tf=51.5, temporal=50.1, temporal_feature="date"),
        licence="CC BY",
        access="Download FA-KES-Dataset.csv from Zenodo, record 2607278.",
        homepage="https://doi.org/10.5281/zenodo.2607278",
        citation="Abu Salem, Al Feel, Elbassuoni, Jaber and Farah (2019), FA-KES: A Fake News Dataset around the Syrian War, ICWSM.",
        errata=(
            "The file is latin-1; read as UTF-8 it fails, or loses characters.",
            "Its temporal score in the guide's Table 8 matches a true hold-out, unlike the tweet-id rows beside it, which were fitted on their own test rows.",
            "Many texts open with their date and close with the agency's name, so the outlet and the day can be read from the text.",
            "The guide describes it as drawn from fact-checking sites in several languages; the articles are English news.",
        ),
        survey="cdl-paragraphs",
    ),
    maps={"a5": LabelMap("fa-kes/a5", A5), "cdl": LabelMap("fa-kes/cdl", A5)},
    variants={"articles": load},
    sample=Sample(
        files={
            "FA-KES-Dataset.csv": (
                "unit_id,article_title,article_content,source,date,location,labels\n"
                '1001,Shell hits market,"Wed 05 Apr 2017 Shell hits market. Witnesses in the caf\xe9 said ""three"" fell.",nna,4/5/2017,riverton,0\n'
                "1002,Convoy arrives,Sun 16 Apr 2017 Convoy arrives. Aid reached the town.,reuters,4/16/2017,riverton,1\n"
                "1003,Clash near dam,,sana,7/10/2016,riverton,1\n"
            ).encode("latin-1"),
        },
        rows={"articles": 3},
        veracity={"true": 2, "false": 1},
    ),
)
