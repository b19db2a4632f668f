"""Planted contradictions are found, each once and with what is needed to look at them; agreement is
not one.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.conflicts import find_conflicts, names
from claimlab.catalog.load import load
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.exchange.merge import merge

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
        "compared": 13,
        "left_out": 3,
        "shared": 4,
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
    exact = find_conflicts([dataset("one", rows)])
    near = find_conflicts([dataset("one", rows)], near=True)
    assert exact.conflicts == []
    assert len(near.conflicts) == 1
    assert 0.7 <= near.conflicts[0].similarity < 1
    assert {s.ids for s in near.conflicts[0].sides} == {("one-0",), ("one-1",)}
    assert find_conflicts([dataset("one", rows)], near=True, threshold=0.99).conflicts == []


def test_near_duplicates_that_agree_are_none() -> None:
    rows: Rows = [(HARBOUR, "true"), (HARBOUR.replace("winter", "winters"), "true")]
    assert find_conflicts([dataset("one", rows)], near=True).conflicts == []


def test_tweets_without_text() -> None:
    one = dataset("one", [(None, "true"), (None, "true"), ("t", "false")], ["1", "2", None])
    two = dataset("two", [(None, "false"), (None, "true")], ["1", "2"])
    found = find_conflicts([one, two], by="tweet")
    assert [[s.ids for s in c.sides] for c in found.conflicts] == [[("one-0",), ("two-0",)]]
    assert found.left_out == {"one": 1, "two": 0}
    with pytest.raises(UsageError, match="by text, not by tweet"):
        find_conflicts([one, two], by="tweet", near=True)


def test_two_versions_of_one_dataset_are_told_apart(tmp_path: Path) -> None:
    for folder, verdict in (("old", "true"), ("new", "false")):
        dataset("liar", [("Same.", verdict)]).write(tmp_path / folder)
    both = [Dataset.open(tmp_path / "old"), Dataset.open(tmp_path / "new")]
    assert len(set(names(both))) == 2
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
    file = tmp_path / "c.csv"
    assert run(["labels", "conflicts", *folders, "--json", "-o", str(file)]) == 0
    said = capsys.readouterr()
    printed = json.loads(said.out)
    assert set(printed) == {"conflicts", "counts"}
    assert printed["counts"]["conflicts"] == len(printed["conflicts"]) == 5
    assert set(printed["conflicts"][0]) == {"similarity", "across", "within", "sides"}
    assert "3 records of one without text or label" in said.err
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 10
    assert not [v for row in rows for v in row.values() if v.startswith(("=", "+", "-", "@"))]
    assert run(["labels", "conflicts", *folders, "-o", str(file)]) == 1, (
        "no overwriting without --force"
    )
    capsys.readouterr()
    assert run(["labels", "conflicts", *folders, "--show", "1"]) == 0
    table = capsys.readouterr().out
    assert (
        "5 conflicts (4 not shown; see --show and -o) in 15 records with a label: 3 between datasets, 2 within one."
        in table
    )
    assert table.count("uphill") == 2


def test_wrong_usage_is_a_sentence(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["labels", "conflicts", *folders, "--by", "url"]) == 2
    assert "Choose one of: text, tweet" in capsys.readouterr().err
    assert run(["labels", "conflicts", str(tmp_path / "no")]) == 1
    assert "There is no folder" in capsys.readouterr().err


@pytest.mark.realdata
def test_verite_has_325_captions_under_both_verdicts(real_data: Path) -> None:
    """By design: a caption that is true of its own picture is false of another."""
    found = find_conflicts([load("verite", real_data / "verite.zip")])
    assert found.counts() == {
        "conflicts": 325,
        "across": 0,
        "within": 325,
        "compared": 1_001,
        "left_out": 0,
        "shared": 0,
    }


def test_how_many_claims_are_shared_is_said_first() -> None:
    """Of the claims with a verdict on truth: four of the first are in the second, none in the
    third.
    """
    datasets = [
        dataset("a", FIRST),
        dataset("b", SECOND),
        dataset("c", [("Something else.", "true")]),
    ]
    conflicts = find_conflicts(datasets)
    assert conflicts.shared == {("a", "b"): 4, ("a", "c"): 0, ("b", "c"): 0}
    assert conflicts.counts()["shared"] == 4


def test_the_same_claims_are_shared_as_merge_counts_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Quotation marks and an apostrophe make no other claim; `--near` adds the near-duplicates to
    what is shared.
    """
    one: Rows = [
        (HARBOUR, "true"),
        ("Its a metal, tea is", "false"),
        ("The river flows uphill.", "false"),
    ]
    near = HARBOUR.replace("winter", "winters")
    two: Rows = [
        (near, "true"),
        (near, "true"),
        ("“It’s a metal”, tea is!", "false"),
        ("Something else.", "true"),
    ]
    dataset("one", one).write(tmp_path / "one")
    dataset("two", two).write(tmp_path / "two")
    folders = [str(tmp_path / "one"), str(tmp_path / "two")]
    said = []
    for options in ([], ["--near"], ["--near", "--show", "0"], ["--near", "--threshold", "0.99"]):
        assert run(["labels", "conflicts", *folders, *options]) == 0
        said.append(next(line for line in capsys.readouterr().out.splitlines() if "of two" in line))
    same = "the same text (case, punctuation and whitespace aside)"
    assert said == [
        f"1 of 4 records of two has {same} in one.",
        f"3 of 4 records of two have {same} or a near-duplicate in one.",
        f"3 of 4 records of two have {same} or a near-duplicate in one.",
        f"1 of 4 records of two has {same} or a near-duplicate in one.",
    ]
    notes = merge([Path(f) for f in folders]).notes
    assert notes[0].startswith("3 of 4 records of 'two' have")
    assert ": 1 the same text" in notes[0]


def test_copies_that_differ_in_punctuation_contradict_each_other() -> None:
    found = find_conflicts([dataset("one", [("It’s over!", "true"), ("Its over", "false")])])
    assert [c.similarity for c in found.conflicts] == [1.0]
