"""Several annotators of one item become one record, with the majority as its label and a table of
what each said.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import krippendorff
import numpy as np
import pytest

from claimlab.exchange.importer import import_files

ITEMS, RATERS = 100, 8
VALUES = ("true", "false", "mixed")
TEXTS = [f"The council of town {i} said that the old bridge is safe for all" for i in range(ITEMS)]


def vote(item: int, rater: int) -> str:
    """A planted opinion: some items are clear, some are divided, and every tenth is a tie."""
    if item % 10 == 0:
        return VALUES[rater % 2]
    clear = (item * 7 + rater * 3) % 10 < 6 + item % 4
    return VALUES[item % 2] if clear else VALUES[(item + rater) % 3]


VOTES = [[vote(item, rater) for rater in range(RATERS)] for item in range(ITEMS)]


def majority(votes: list[str]) -> str | None:
    (first, n), *others = Counter(votes).most_common()
    return None if others and others[0][1] == n else first


def write(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def long(path: Path, header: list[str]) -> Path:
    rows = [
        [f"d{item}", TEXTS[item], VOTES[item][rater], f"w{rater}", str(item * 60 + rater)]
        for rater in range(RATERS)
        for item in range(ITEMS)
    ]
    return write(path, header, rows)


@pytest.mark.parametrize("name", ["annotator", "worker_id", "who"])
def test_a_row_for_each_annotator_becomes_one_record_an_item(tmp_path: Path, name: str) -> None:
    path = long(tmp_path / "a.csv", ["doc", "text", "label", name, "seconds"])
    dataset, report = import_files(path)
    expected = [majority(votes) for votes in VOTES]
    assert dataset.records.height == ITEMS
    assert report.rows_read == ITEMS * RATERS
    assert dataset.records["veracity"].to_list() == expected
    assert report.duplicate_texts == 0
    table = dataset.tables["annotations"]
    assert table.height == ITEMS * RATERS
    first = table.filter(table["record_id"] == dataset.records["id"][0]).sort("annotator")
    assert first["value"].to_list() == VOTES[0]
    assert dataset.tables["doubtful"].height == expected.count(None) > 0


def test_the_agreement_is_krippendorffs(tmp_path: Path) -> None:
    _, report = import_files(long(tmp_path / "a.csv", ["doc", "text", "label", "rater", "seconds"]))
    codes = np.array([[VALUES.index(v) for v in votes] for votes in VOTES], dtype=float).T
    oracle = krippendorff.alpha(codes, level_of_measurement="nominal")
    assert report.agreement is not None
    assert report.agreement["alpha"] == pytest.approx(oracle)
    assert any("8 annotators gave 800 ratings of 100 items" in note for note in report.notes)


def test_none_keeps_a_record_a_row(tmp_path: Path) -> None:
    path = long(tmp_path / "a.csv", ["doc", "text", "label", "rater", "seconds"])
    dataset, _ = import_files(path, rater="none")
    assert dataset.records.height == ITEMS * RATERS


def test_rows_that_nothing_tells_apart_are_asked_about(tmp_path: Path) -> None:
    rows = [[TEXTS[i], VOTES[i][r]] for i in range(ITEMS) for r in range(RATERS)]
    path = write(tmp_path / "a.csv", ["text", "label"], rows)
    dataset, report = import_files(path)
    assert dataset.records.height == ITEMS * RATERS
    assert any("occurs 8 times, with different labels" in note for note in report.notes)
    again, _ = import_files(path, rater="rows")
    assert again.records["veracity"].to_list() == [majority(votes) for votes in VOTES]


@pytest.mark.parametrize("names", ["rater{}", "Annotator {}", "label of coder {}"])
def test_a_column_for_each_annotator(tmp_path: Path, names: str) -> None:
    header = ["id", "text", *(names.format(r + 1) for r in range(RATERS))]
    rows = [[f"d{i}", TEXTS[i], *VOTES[i]] for i in range(ITEMS)]
    dataset, _ = import_files(write(tmp_path / "a.csv", header, rows))
    assert dataset.records["veracity"].to_list() == [majority(votes) for votes in VOTES]
    assert dataset.tables["annotations"].height == ITEMS * RATERS


def test_columns_by_a_pattern(tmp_path: Path) -> None:
    header = ["id", "text", *(f"q_{r}" for r in range(RATERS))]
    rows = [[f"d{i}", TEXTS[i], *VOTES[i]] for i in range(ITEMS)]
    dataset, _ = import_files(write(tmp_path / "a.csv", header, rows), rater="q_*")
    assert dataset.records["veracity"].to_list() == [majority(votes) for votes in VOTES]


def test_a_gold_label_beside_the_annotators_stays_the_label(tmp_path: Path) -> None:
    header = ["id", "text", "verdict", *(f"rater{r}" for r in range(RATERS))]
    rows = [[f"d{i}", TEXTS[i], VALUES[i % 2], *VOTES[i]] for i in range(ITEMS)]
    dataset, _ = import_files(write(tmp_path / "a.csv", header, rows))
    assert dataset.records["veracity"].to_list() == [VALUES[i % 2] for i in range(ITEMS)]
    assert dataset.tables["annotations"].height == ITEMS * RATERS


def test_posts_about_a_claim_are_not_annotators(tmp_path: Path) -> None:
    rows = [[TEXTS[i // 4], f"Post number {i} about the bridge", VALUES[i % 2]] for i in range(400)]
    dataset, _ = import_files(write(tmp_path / "a.csv", ["statement", "tweet", "verdict"], rows))
    assert dataset.records.height == 400


def test_a_column_of_annotators_beside_texts_that_occur_once_makes_no_ratings(
    tmp_path: Path,
) -> None:
    rows = [[text, VALUES[i % 2], f"w{i % 4}"] for i, text in enumerate(TEXTS)]
    dataset, _ = import_files(write(tmp_path / "a.csv", ["text", "verdict", "annotator"], rows))
    assert dataset.records.height == ITEMS
    assert "annotations" not in dataset.tables
