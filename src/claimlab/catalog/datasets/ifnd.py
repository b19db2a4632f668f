"""IFND: headlines on India, true from news sites and false from fact-checking columns."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._guide import guide, made_up
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.ids import unique_ids
from claimlab.catalog.table import Table
from claimlab.catalog.times import dated, utc
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle

DAY, MONTH = ("%d-%b-%Y", "%d-%b-%y"), ("%b-%y", "%b %Y", "%B %Y")


def load(bundle: Bundle) -> Loaded:
    """One CSV, latin-1. A spreadsheet had its way with the dates: "Oct-20" is a month, "20-Sep" may be a day or a year and stays null."""
    raw = Table.read(bundle, bundle.one("IFND.csv", "IFND*.csv", "IFND*.xlsx"), western=True)
    written = raw.maybe("Date")
    times = dated({"date column": utc(written, *DAY), "date column (month)": utc(written, *MONTH)})
    records = raw.frame.select(
        id=unique_ids("ifnd", raw.maybe("id", "Unnamed: 0", "column_1")),
        text=raw.need("Statement", "text", "title"),
        kind=pl.lit("claim"),
        label_raw=raw.need("Label"),
        language=pl.lit("eng"),
        **times,
        source=raw.maybe("Web", "source"),
        topic=raw.maybe("Category"),
        meta=raw.meta({"image": "Image", "date_as_written": "Date"}),
    )
    lost = written.count() - times["date"].count()
    notes = [f"{lost:,} date(s) such as '20-Sep' do not say their year and were left out."] if lost else []
    return Loaded(records, notes=notes)


A5 = {"TRUE": "true", "Fake": "false", "FALSE": "false", "real": "true", "1": "true", "0": "false"}

DATASET = Entry(
    card=Card(
        name="ifnd",
        title="IFND",
        summary="Statements on Indian politics, elections, COVID-19 and violence: true ones are headlines of news sites, false ones come from the fact-check columns of others.",
        size=56_868,
        modality=("claims", "images"),
        topic="Various",
        region="India",
        languages=("eng",),
        time_start="2013",
        time_end="2021",
        labelling="Human expert",
        shares=Shares(true=66.64, false=33.36),
        quality=Quality(keywords="fail", feasibility="fail"),
        published=Published(search_f1=56.5, offline_f1=42.0, keywords_tf=82.2, keywords_tf_baseline=50.0),
        access="Download IFND.csv from Kaggle, sonalgarg174/ifnd-dataset.",
        homepage="https://www.kaggle.com/datasets/sonalgarg174/ifnd-dataset",
        citation="Sharma and Garg (2023), IFND: A Benchmark Dataset for Fake News Detection, Complex & Intelligent Systems 9.",
        errata=(
            "False rows are headlines of fact-checks: 'fact' stands in 9,367 false statements and 17 true ones, 'viral' in 2,812 and 59. The words betray the label.",
            "Labels follow the outlet: the column 'Web' alone tells true from false.",
            "The guide lists the labelling as human expert; it is by source.",
            "The file is latin-1, and its dates were mangled by a spreadsheet ('Oct-20', '20-Sep').",
        ),
        survey="cdl-claims",
    ),
    maps={"a5": LabelMap("ifnd/a5", A5), "cdl": LabelMap("ifnd/cdl", A5)},
    variants={"statements": load, "guide": guide("ifnd", "IFND", language="eng")},
    sample=Sample(
        files={
            "IFND.csv": (
                "id,Statement,Image,Web,Category,Date,Label\n"
                '1,"Riverton council passes budget, caf\xe9s reopen",https://i.example/a.jpg,RIVERTONTIMES,GOVERNMENT,Oct-20,TRUE\n'
                "2,Fact check: viral photo of purple lake is edited,https://i.example/b.jpg,CHECKPOST,COVID-19,20-Sep,Fake\n"
                "3,Riverton wins the cup,https://i.example/c.jpg,RIVERTONTIMES,MISLEADING,14 May 2019,TRUE\n"
                "4,Did the mayor sell the moon?,,CHECKPOST,POLITICS,,Fake\n"
            ).encode("latin-1"),
            **made_up(
                "IFND",
                {"claim": "riverton wins the cup", "label": "true"},
                {"claim": "fact check: purple lake", "label": "fake"},
            ),
        },
        rows={"statements": 4, "guide": 2},
        veracity={"true": 2, "false": 2},
    ),
)
