"""What loaders make of the columns they found: texts, languages, ids, groups, typed rows and
annotations.
"""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from claimlab.catalog.cards import Verdicts, label_maps
from claimlab.catalog.columns import (
    answers,
    blank_to_null,
    distinct,
    host,
    languages,
    numbered,
    post_or_id,
    record_rows,
    repeated,
    side_rows,
    title_and_body,
    unique_ids,
)
from claimlab.core.record import SCHEMA, SIDE_TABLES


def test_blank_is_null() -> None:
    assert blank_to_null(pl.Series([" a ", "\t", "", None])).to_list() == ["a", None, None, None]
    assert blank_to_null(pl.Series([1, None])).to_list() == ["1", None]


def test_title_and_body_are_joined_where_both_are_there() -> None:
    texts = title_and_body(pl.Series(["A", " ", "C", None]), pl.Series(["b", "b", "", None]))
    assert texts.to_list() == ["A\n\nb", "b", "C", None]


def test_languages_hosts_and_kinds() -> None:
    assert languages(pl.Series(["pt", "English", "in", "zz?", None])).to_list() == [
        "por",
        "eng",
        "ind",
        None,
        None,
    ]
    urls = pl.DataFrame(
        {"url": ["https://www.a.example:80/x", "http://b.example?q", "c.example", None]}
    )
    assert urls.select(host(pl.col("url"))).to_series().to_list() == [
        "a.example",
        "b.example",
        None,
        None,
    ]
    assert post_or_id(pl.Series(["x", None])).to_list() == ["post", "id-only"]


def test_ids_are_numbered_in_file_order_and_told_apart() -> None:
    assert numbered("x", 2).to_list() == ["x-000001", "x-000002"]
    assert numbered("x", 12, width=1).to_list()[::11] == ["x-01", "x-12"], "one width for all"
    assert distinct(pl.Series(["a", "b", "a", "a"])).to_list() == ["a", "b", "a-2", "a-3"]
    assert unique_ids("x", pl.Series(["a", "a", None, " "])).to_list() == [
        "x-a",
        "x-a-2",
        "x-row3",
        "x-row4",
    ]


def test_rows_that_say_the_same_are_one_group() -> None:
    texts = pl.Series(["A  b", "c", "a B ", None, None])
    assert repeated(texts, pl.Series(list("12345"))).to_list() == ["1", None, "1", None, None]


def test_rows_get_the_types_of_the_schema_whatever_stands_in_them() -> None:
    records = record_rows(
        [{"id": "1", "date": None}, {"id": "2", "date": datetime(2020, 1, 2), "text": "left out"}]
    )
    assert dict(records.schema) == {"id": SCHEMA["id"], "date": SCHEMA["date"]}
    evidence = side_rows("evidence", [{"record_id": "1", "rank": 2}])
    assert dict(evidence.schema) == SIDE_TABLES["evidence"]
    assert evidence.row(0, named=True)["text"] is None
    assert record_rows([]).columns == ["id", "text"]
    assert side_rows("claims", []).height == 0


def test_an_answer_is_a_row_and_no_answer_is_none() -> None:
    raw = pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "q1": ["yes", "NA", None],
            "q2": ["no", " ", "yes"],
            "more": ["x"] * 3,
        }
    )
    found = answers(raw, {"q1": "Is it?", "q2": "Does it?"}, annotator="crowd", blank=["NA"])
    assert found.select("record_id", "question", "value").rows() == [
        ("a", "Is it?", "yes"),
        ("a", "Does it?", "no"),
        ("c", "Does it?", "yes"),
    ]
    assert set(found["annotator"]) == {"crowd"}
    assert set(found["annotator_kind"]) == {"human"}


@pytest.mark.parametrize(("raw", "verdict"), [("Mostly-TRUE", "mixed"), ("false", "false")])
def test_a_datasets_own_verdict_overrides_the_houses_in_any_spelling(
    raw: str, verdict: str
) -> None:
    own = Verdicts(like="ratings", folded=True, verdicts={"mostly true": "mixed"})
    assert label_maps("x", {"a5": own})["a5"].verdict(raw) == verdict
