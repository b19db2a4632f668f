"""Planted contradictions are found, each once and with what is needed to look at them; agreement is
not one.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.claims.conflicts import Conflicts, conflicts_in, disagreement
from claimlab.claims.graph import graph_of, names_of
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError

Rows = list[tuple[str | None, str | None]]


def dataset(name: str, rows: Rows, tweets: list[str | None] | None = None) -> Dataset:
    records = pl.DataFrame(
        {
            "id": [f"{name}-{i}" for i in range(len(rows))],
            "text": [text for text, _ in rows],
            "label_raw": [f"raw {verdict}" if verdict else None for _, verdict in rows],
            "veracity": [verdict for _, verdict in rows],
            "tweet_id": tweets or [None] * len(rows),
        },
        schema=dict.fromkeys(("id", "text", "label_raw", "veracity", "tweet_id"), pl.String),
    )
    return Dataset.build(name, records)


def find_conflicts(datasets: Sequence[Dataset]) -> Conflicts:
    return conflicts_in(graph_of(datasets))


HARBOUR = "The harbour of Northport froze over in the winter of 1931."
FIRST: Rows = [
    (HARBOUR, "true"),
    ("The river flows uphill.", "false"),
    ("The  RIVER flows uphill. ", "false"),
    ("Tea is a metal.", "mixed"),
    ("Agreed by all.", "true"),
    ("Nobody knows.", "unknown"),
    ("No verdict.", None),
    (None, "true"),
]
SECOND: Rows = [
    ("THE HARBOUR OF NORTHPORT froze over in the winter of 1931.", "false"),
    ("The river flows uphill.", "true"),
    ("tea is a metal.", "false"),
    ("Agreed by all.", "true"),
    ("Nobody knows.", "false"),
    ("No verdict.", "true"),
    ("Torn inside.", "true"),
    ("Torn inside.", "false"),
]


def test_planted_conflicts_and_no_others() -> None:
    found = find_conflicts([dataset("one", FIRST), dataset("two", SECOND)])
    torn = [{(s.dataset, s.veracity, s.records) for s in c.sides} for c in found.conflicts]
    assert sorted(torn, key=str) == sorted(
        [
            {("one", "true", 1), ("two", "false", 1)},
            {("one", "false", 2), ("two", "true", 1)},
            {("one", "mixed", 1), ("two", "false", 1)},
            {("two", "true", 1), ("two", "false", 1)},
        ],
        key=str,
    )
    assert found.counts() == {
        "conflicts": 4,
        "across": 3,
        "within": 1,
        "other_map": 0,
        "other_claims": 0,
        "compared": 13,
        "left_out": 3,
        "dated_apart": 0,
    }
    assert found.left_out == {"one": 3, "two": 0}
    assert [c.across for c in found.conflicts] == [True, True, True, False], (
        "between datasets first"
    )
    river = found.conflicts[0]
    assert [s.ids for s in river.sides] == [("one-1", "one-2"), ("two-1",)]
    assert river.sides[0].labels == ("raw false",)


def test_an_unknown_verdict_contradicts_nothing() -> None:
    found = find_conflicts(
        [
            dataset("one", [("Nobody knows.", "unknown")]),
            dataset("two", [("Nobody knows.", "true")]),
        ]
    )
    assert found.conflicts == []


def test_near_duplicates_are_found_with_their_similarity() -> None:
    rows: Rows = [
        (HARBOUR, "true"),
        (HARBOUR.replace("winter", "winters"), "false"),
        ("Something else.", "false"),
    ]
    near = find_conflicts([dataset("one", rows)])
    assert len(near.conflicts) == 1
    assert 0.7 <= near.conflicts[0].similarity < 1
    assert {s.ids for s in near.conflicts[0].sides} == {("one-0",), ("one-1",)}


def test_near_texts_with_another_name_number_or_negation_are_different_claims() -> None:
    rows: Rows = [
        (HARBOUR, "true"),
        (HARBOUR.replace("1931", "1932"), "false"),
        (HARBOUR.replace("Northport", "Southport"), "false"),
        (HARBOUR.replace("froze", "never froze"), "false"),
        (HARBOUR.replace("harbour", "harbor").replace(".", "!"), "false"),
    ]
    found = find_conflicts([dataset("one", rows)])
    assert [{i for s in c.sides for i in s.ids} for c in found.conflicts] == [{"one-0", "one-4"}]
    assert found.other_claims == 3


def test_near_duplicates_that_agree_are_none() -> None:
    rows: Rows = [(HARBOUR, "true"), (HARBOUR.replace("winter", "winters"), "true")]
    assert find_conflicts([dataset("one", rows)]).conflicts == []


def test_tweets_without_text() -> None:
    one = dataset("one", [(None, "true"), (None, "true"), ("t", "false")], ["1", "2", None])
    two = dataset("two", [(None, "false"), (None, "true")], ["1", "2"])
    found = find_conflicts([one, two])
    assert [[s.ids for s in c.sides] for c in found.conflicts] == [[("one-0",), ("two-0",)]]
    assert found.left_out == {"one": 0, "two": 0}


def test_verdicts_of_different_times_are_marked() -> None:
    """A claim that was false in March and true in June may have become true."""
    dated = [
        Dataset.build(
            name,
            dataset(name, [(HARBOUR, verdict)]).records.with_columns(pl.lit(day).alias("date")),
        )
        for name, verdict, day in (
            ("one", "false", datetime(2020, 3, 1)),
            ("two", "true", datetime(2020, 6, 1)),
            ("three", "true", datetime(2020, 3, 20)),
        )
    ]
    assert [c.dated_apart for c in find_conflicts(dated[:2]).conflicts] == [True]
    assert [c.dated_apart for c in find_conflicts(dated).conflicts] == [False]
    table = disagreement(graph_of(dated)).rows()
    assert ("one", "two", 1, 0, 0, 1, 0) in table
    assert ("one", "three", 1, 1, 1, 0, 0) in table
    assert ("two", "three", 1, 0, 0, 0, 0) in table


def test_two_versions_of_one_dataset_are_told_apart(tmp_path: Path) -> None:
    for folder, verdict in (("old", "true"), ("new", "false")):
        dataset("liar", [("Same.", verdict)]).write(tmp_path / folder)
    both = [Dataset.open(tmp_path / "old"), Dataset.open(tmp_path / "new")]
    assert len(set(names_of(both))) == 2
    assert find_conflicts(both).conflicts[0].across
    with pytest.raises(UsageError, match="given twice"):
        find_conflicts([both[0], both[0]])


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    trap: Rows = [('=HYPERLINK("http://x")', "true"), ('=HYPERLINK("http://x")', "false")]
    dataset("one", FIRST).write(tmp_path / "one")
    dataset("two", SECOND + trap).write(tmp_path / "two")
    return [str(tmp_path / "one"), str(tmp_path / "two")]


def test_the_verb_prints_json_table_and_csv(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["overlap", *folders, "--conflicts", "--json", "-o", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["conflicts"]["conflicts"] == len(printed["labels"]) == 5
    assert set(printed["labels"][0]) == {
        *("similarity", "across", "within", "dated_apart", "other_map", "sides")
    }
    with (out / "conflicts.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 10
    assert not [v for row in rows for v in row.values() if v.startswith(("=", "+", "-", "@"))]
    assert run(["overlap", *folders, "-o", str(out)]) == 1, "no overwriting without --force"
    capsys.readouterr()
    assert run(["overlap", *folders, "--conflicts"]) == 0
    table = capsys.readouterr().out
    assert "5 conflicts in 15 records with a label: 3 between datasets, 2 within one" in table
    assert table.count("uphill") == 2


@pytest.mark.realdata
def test_verite_has_325_captions_under_both_verdicts(real_data: Path) -> None:
    """By design: a caption that is true of its own picture is false of another. Nine more are
    nearly the same, with another number or word."""
    found = find_conflicts([load("verite", real_data / "verite.zip")])
    assert sum(conflict.similarity == 1 for conflict in found.conflicts) == 325
    assert found.counts() == {
        "conflicts": 325,
        "across": 0,
        "within": 325,
        "other_map": 0,
        "other_claims": 9,
        "compared": 1_001,
        "left_out": 0,
        "dated_apart": 0,
    }


def test_copies_that_differ_in_punctuation_contradict_each_other() -> None:
    found = find_conflicts([dataset("one", [("It’s over!", "true"), ("Its over", "false")])])
    assert [c.similarity for c in found.conflicts] == [1.0]
