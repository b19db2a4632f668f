"""TruthSeeker2023: tweets about statements that PolitiFact has rated."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, answers, lists_of, meta_column

LISTS = lists_of("truthseeker2023")
QUESTIONS: dict[str, str] = LISTS["questions"]
META: dict[str, str] = LISTS["meta"]


def load(bundle: Bundle) -> Loaded:
    """One CSV. `target` is the rating of the STATEMENT; whether the tweet agrees with it is what
    the crowd said.

    Tweets about one statement form a group. `author` names who wrote the fact-check, not the tweet.
    """
    raw = Table.read(bundle, bundle.one("Truth_Seeker_Model_Dataset.csv", "*.csv"))
    rows = raw.pick(["statement", "target", "tweet"], META | {q: q for q in QUESTIONS})
    index = raw.need(raw.frame.columns[0])  # it has no name in some copies
    order = rows.select("statement").unique(maintain_order=True).with_row_index("number", 1)
    rows = rows.join(order, on="statement", how="left", maintain_order="left")
    rows = rows.with_columns(
        id="truthseeker2023-" + index, group=pl.format("statement-{}", "number")
    )
    records = rows.select(
        *["id", "group"],
        text="tweet",
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
