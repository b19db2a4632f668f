"""TruthSeeker2023: tweets about statements that PolitiFact has rated."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, answers, meta_column

QUESTIONS = {
    "5_label_majority_answer": "agrees with the statement (5 answers)",
    "3_label_majority_answer": "agrees with the statement (3 answers)",
}
META = {
    "fact_checker": "author",
    "manual_keywords": "manual_keywords",
    "BinaryNumTarget": "BinaryNumTarget",
}


def load(bundle: Bundle) -> Loaded:
    """One CSV. `target` is the rating of the STATEMENT; whether the tweet agrees with it is what
    the crowd said.

    Tweets about one statement form a group. `author` names who wrote the fact-check, not the tweet.
    """
    raw = Table.read(bundle, bundle.one("Truth_Seeker_Model_Dataset.csv", "*.csv"))
    rows = raw.pick(["statement", "target", "tweet"], {**META, **{q: q for q in QUESTIONS}})
    index = raw.need(raw.frame.columns[0])  # it has no name in some copies
    order = rows.select("statement").unique(maintain_order=True).with_row_index("number", 1)
    rows = rows.join(order, on="statement", how="left", maintain_order="left")
    rows = rows.with_columns(
        id="truthseeker2023-" + index, group=pl.format("statement-{}", "number")
    )
    records = rows.select(
        *["id", "group"],
        text="tweet",
        kind=pl.lit("post"),
        label_raw="target",
        meta=meta_column(rows, [*META, *QUESTIONS]),
    )
    claims = rows.select(
        record_id="id", claim_id="group", text="statement", method=pl.lit("PolitiFact statement")
    )
    return Loaded(
        records,
        {"claims": claims, "annotations": answers(rows, QUESTIONS, annotator="crowd majority")},
    )


DATASET = Entry(
    card=Card(
        name="truthseeker2023",
        title="TruthSeeker2023",
        summary=(
            "Tweets found by the keywords of statements that PolitiFact rated true or false; crowd"
            " workers said whether each tweet agrees with its statement."
        ),
        size=180_000,
        modality=("claims",),
        topic="Politics",
        region="USA",
        languages=("eng",),
        time_start="2009",
        time_end="2022",
        labelling="Crowd-sourced",
        access=(
            "Request it through the form of the Canadian Institute for Cybersecurity, University of"
            " New Brunswick."
        ),
        homepage="https://www.unb.ca/cic/datasets/truthseeker-2023.html",
        citation=(
            "Dadkhah, Zhang, Weismann, Firouzi and Ghorbani (2023), The Largest Social Media"
            " Ground-Truth Dataset for Real/Fake Content: TruthSeeker, IEEE Transactions on"
            " Computational Social Systems."
        ),
        errata=(
            "The file at hand (10,000 rows) holds ONE class: all its 54 statements are true.",
            (
                "The label is the statement's, not the tweet's: 456 of these 10,000 tweets disagree"
                " with their statement."
            ),
            (
                "Up to 499 tweets have the same statement: a random split leaks statements from"
                " train to test (group)."
            ),
            (
                "Names give the label away in the guide's analysis: 99.6% of the texts naming one"
                " politician are false."
            ),
        ),
    ),
    maps={"a5": {"True": "true", "False": "false"}},
    variants={"tweets": load},
    real_rows={"tweets": 10_000},
    real_labels={"True": 10_000},
)
