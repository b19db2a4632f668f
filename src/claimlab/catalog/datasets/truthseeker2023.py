"""TruthSeeker2023: tweets about statements that PolitiFact has rated."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.rows import answers
from claimlab.catalog.table import Table
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column
from claimlab.files.bundle import Bundle

QUESTIONS = {"5_label_majority_answer": "agrees with the statement (5 answers)",
             "3_label_majority_answer": "agrees with the statement (3 answers)"}  # fmt: skip
META = {"fact_checker": "author", "manual_keywords": "manual_keywords", "BinaryNumTarget": "BinaryNumTarget"}


def load(bundle: Bundle) -> Loaded:
    """One CSV. `target` is the rating of the STATEMENT; whether the tweet agrees with it is what the crowd said.

    Tweets about one statement form a group. `author` names who wrote the fact-check, not the tweet.
    """
    raw = Table.read(bundle, bundle.one("Truth_Seeker_Model_Dataset.csv", "*.csv"))
    rows = raw.pick(["statement", "target", "tweet"], {**META, **{q: q for q in QUESTIONS}})
    index = raw.need(raw.frame.columns[0])  # it has no name in some copies
    order = rows.select("statement").unique(maintain_order=True).with_row_index("number", 1)
    rows = rows.join(order, on="statement", how="left", maintain_order="left")
    rows = rows.with_columns(id="truthseeker2023-" + index, group=pl.format("statement-{}", "number"))
    records = rows.select(
        *["id", "group"],
        text="tweet",
        kind=pl.lit("post"),
        label_raw="target",
        language=pl.lit("eng"),
        meta=meta_column(rows, [*META, *QUESTIONS]),
    )
    claims = rows.select(record_id="id", claim_id="group", text="statement", method=pl.lit("PolitiFact statement"))
    return Loaded(records, {"claims": claims, "annotations": answers(rows, QUESTIONS, annotator="crowd majority")})


HEADER = (
    "Unnamed: 0,author,statement,target,BinaryNumTarget,manual_keywords,tweet,5_label_majority_answer,"
    "3_label_majority_answer\n"
)

DATASET = Entry(
    card=Card(
        name="truthseeker2023",
        title="TruthSeeker2023",
        summary="Tweets found by the keywords of statements that PolitiFact rated true or false; crowd workers said whether "
        "each tweet agrees with its statement.",
        size=180_000,
        modality=("claims",),
        topic="Politics",
        region="USA",
        languages=("eng",),
        time_start="2009",
        time_end="2022",
        labelling="Crowd-sourced",
        shares=Shares(true=51.36, false=48.64),
        quality=Quality(keywords="fail", feasibility="fail"),
        published=Published(search_f1=81.9, offline_f1=81.0, keywords_tf=66.8, keywords_tf_baseline=50.0),
        access="Request it through the form of the Canadian Institute for Cybersecurity, University of New Brunswick.",
        homepage="https://www.unb.ca/cic/datasets/truthseeker-2023.html",
        citation="Dadkhah, Zhang, Weismann, Firouzi and Ghorbani (2023), The Largest Social Media Ground-Truth Dataset for "
        "Real/Fake Content: TruthSeeker, IEEE Transactions on Computational Social Systems.",
        errata=(
            "The file at hand (10,000 rows) holds ONE class: all its 54 statements are true.",
            "The label is the statement's, not the tweet's: 456 of these 10,000 tweets disagree with their statement.",
            "Up to 499 tweets stand under one statement: a random split leaks statements from train to test (group).",
            "Names give the label away in the guide's analysis: 99.6 % of the texts naming one politician are false.",
        ),
        survey="cdl-claims",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("truthseeker2023/a5", {"True": "true", "False": "false"})},
    variants={"tweets": load},
    sample=Sample(
        files={
            "Truth_Seeker_Model_Dataset.csv": HEADER
            + '0,Ann Poe,"The Riverton bridge ""opened"" in 1931.",True,1.0,"Riverton, bridge","@reader The bridge opened\nin 1931, long ago",Mostly Agree,Agree\n'
            + '1,Ann Poe,"The Riverton bridge ""opened"" in 1931.",True,1.0,"Riverton, bridge",No way the bridge is that old,Disagree,Disagree\n'
            + "2,Jan Roe,The river flows uphill.,False,0.0,river uphill,Saw the river flow uphill today,NO MAJORITY,Agree\n"
        },
        rows={"tweets": 3},
        veracity={"true": 2, "false": 1},
    ),
    real_rows={"tweets": 10_000},
    real_labels={"True": 10_000},
)
