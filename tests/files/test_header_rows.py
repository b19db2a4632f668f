"""Header rows are found by how the cells change below them, and none becomes a record."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import openpyxl
import pytest

from claimlab.files.bundle import Bundle
from claimlab.files.layout import ReadOptions
from claimlab.files.raw import RawTable
from claimlab.files.read import read_table

KNOWN = frozenset({"text", "label", "id", "date", "claim"})
N = 30
BODY = [
    [str(100 + i), f"The council said in {1990 + i} that the bridge is safe", f"2020-01-{i + 1:02}",
     ("true", "false")[i % 2], str(i / 4)]
    for i in range(N)
]  # fmt: skip
NAMES = ["id", "claim", "date", "label", "score"]
GAP = ["", "", "", "", ""]
HEADS = {
    "plain": [NAMES],
    "title": [["Claims of 2020", *GAP[1:]], NAMES],
    "title and groups": [
        ["Claims of 2020", *GAP[1:]],
        ["Post", "", "", "Annotation", ""],
        NAMES,
    ],
    "units": [NAMES, ["", "words", "yyyy-mm-dd", "verdict", "0 to 8"]],
    "survey": [
        NAMES,
        ["Number", "What does the post say?", "When was it?", "Is it so?", "How sure are you?"],
        [json.dumps({"ImportId": f"QID{i}"}) for i in range(5)],
    ],
    "two languages": [["编号", "内容", "日期", "标签", "分数"], NAMES],
}


def as_csv(rows: list[list[str]], mark: str = "") -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return (mark + out.getvalue()).encode("utf-8")


def as_xlsx(rows: list[list[str]]) -> bytes:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append([cell or None for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def table(path: Path, data: bytes) -> RawTable:
    path.write_bytes(data)
    with Bundle.open(path) as bundle:
        return read_table(bundle, path.name, ReadOptions(), KNOWN)


@pytest.mark.parametrize("form", ["csv", "marked.csv", "xlsx"])
@pytest.mark.parametrize("head", HEADS)
def test_every_header_row_is_found(tmp_path: Path, head: str, form: str) -> None:
    rows = [*HEADS[head], *BODY]
    data = as_xlsx(rows) if form == "xlsx" else as_csv(rows, "\ufeff" if "marked" in form else "")
    read = table(tmp_path / f"a.{form}", data)
    assert read.frame.columns == NAMES
    assert read.frame.height == N
    assert read.frame["claim"].to_list() == [row[1] for row in BODY]


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_first_row_of_data_stays_a_record(tmp_path: Path, form: str) -> None:
    read = table(tmp_path / f"a.{form}", as_xlsx(BODY) if form == "xlsx" else as_csv(BODY))
    assert read.frame.height == N
    assert read.frame.columns[0] == "column_1"


def test_a_record_below_the_header_with_gaps_stays_a_record(tmp_path: Path) -> None:
    odd = ["99", "Short", "", "true", ""]
    read = table(tmp_path / "a.csv", as_csv([NAMES, odd, *BODY]))
    assert read.frame.height == N + 1


def test_names_that_come_back_get_the_name_of_their_group(tmp_path: Path) -> None:
    head = [["", "", "", "Rater A", "Rater B"], ["id", "claim", "date", "label", "label"]]
    body = [[*row[:4], ("true", "false")[i % 3 == 0]] for i, row in enumerate(BODY)]
    read = table(tmp_path / "a.csv", as_csv([*head, *body]))
    assert read.frame.columns == ["id", "claim", "date", "Rater A label", "Rater B label"]


def test_line_breaks_in_header_cells_are_counted(tmp_path: Path) -> None:
    head = [["Claims\nof\n2020", *GAP[1:]], ["Post", "", "", "Anno-\ntation", ""], NAMES]
    read = table(tmp_path / "a.csv", as_csv([*head, *BODY]))
    assert (read.frame.columns, read.frame.height) == (NAMES, N)
