"""IFND: headlines on India, true from news sites and false from fact-checking columns."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.datasets._guide import guide
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, both, dated, unique_ids, utc

DAY, MONTH = ("%d-%b-%Y", "%d-%b-%y"), ("%b-%y", "%b %Y", "%B %Y")


def load(bundle: Bundle) -> Loaded:
    """One CSV, latin-1. A spreadsheet had its way with the dates: "Oct-20" is a month, "20-Sep" may
    be a day or a year and stays null.
    """
    raw = Table.read(bundle, bundle.one("IFND.csv", "IFND*.csv", "IFND*.xlsx"), western=True)
    written = raw.maybe("Date")
    times = dated(
        {"date column": utc(written, *DAY), "date column (month)": utc(written, *MONTH)},
        written=written,
    )
    records = raw.frame.select(
        id=unique_ids("ifnd", raw.maybe("id", "Unnamed: 0", "column_1")),
        text=raw.need("Statement", "text", "title"),
        kind=pl.lit("claim"),
        label_raw=raw.need("Label"),
        **times,
        source=raw.maybe("Web", "source"),
        topic=raw.maybe("Category"),
        meta=raw.meta({"image": "Image"}),
    )
    return Loaded(records)


A5 = {"TRUE": "true", "Fake": "false", "FALSE": "false", "real": "true", "1": "true", "0": "false"}

DATASET = Entry(
    card=Card(
        name="ifnd",
        title="IFND",
        summary=(
            "Statements on Indian politics, elections, COVID-19 and violence: true ones are"
            " headlines of news sites, false ones come from the fact-check columns of others."
        ),
        size=56_868,
        modality=("claims", "images"),
        topic="Various",
        region="India",
        languages=("eng",),
        time_start="2013",
        time_end="2021",
        labelling="Human expert",
        access="Download IFND.csv from Kaggle, sonalgarg174/ifnd-dataset.",
        homepage="https://www.kaggle.com/datasets/sonalgarg174/ifnd-dataset",
        citation=(
            "Sharma and Garg (2023), IFND: A Benchmark Dataset for Fake News Detection, Complex &"
            " Intelligent Systems 9."
        ),
        errata=(
            (
                "False rows are headlines of fact-checks: 'fact' occurs in 9,367 false statements"
                " and 17 true ones, 'viral' in 2,812 and 59. The words betray the label."
            ),
            "Labels follow the outlet: the column 'Web' alone separates true from false.",
            "The guide lists the labelling as human expert; it is by source.",
            (
                "The file is latin-1, and its dates were mangled by a spreadsheet ('Oct-20',"
                " '20-Sep')."
            ),
        ),
    ),
    maps=both(A5),
    variants={"statements": load, "guide": guide("ifnd", "IFND", language="eng")},
)
