"""A row below a table that sums it up is not a record, whatever language names it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import openpyxl
import pytest

from claimlab.exchange.importer import import_files

N = 40
NAMES = ["id", "claim", "label", "shares"]
SHARES = [(7 * i) % 31 for i in range(N)]
BODY: list[list[object]] = [
    [i + 1, f"The council said in {1960 + i} that the bridge is safe", ("real", "fake")[i % 2], n]
    for i, n in enumerate(SHARES)
]
MEAN = sum(SHARES) / N
BELOW: dict[str, list[list[object]]] = {
    "a sum by its word": [["Total", None, None, 1]],
    "a sum by its number": [["Hapana neno", None, None, sum(SHARES)]],
    "a mean, rounded": [[None, None, None, round(MEAN, 1)]],
    "a sum and a mean": [["Soma", None, None, sum(SHARES)], ["Média", None, None, round(MEAN, 2)]],
    "a sum under the text": [[None, "Σύνολο", None, sum(SHARES)]],
    "how many there are": [[None, "Unkown word", N, None]],
    "a word alone": [["Insgesamt:", None, None, None]],
    "how many, in words": [[f"Number of claims: {N}", None, None, None]],
}
RECORDS: dict[str, list[object]] = {
    "without a label": [N + 1, "The mayor said that the tower is safe", None, 3],
    "with a text alone": [None, "The mayor said that the tower is safe", None, None],
    "without a text": [N + 1, None, "real", 3],
    "a short text": [N + 1, "Total", "real", 3],
    "the next number": [N, None, None, None],
}


def as_csv(path: Path, rows: list[list[object]]) -> Path:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def as_xlsx(path: Path, *sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.remove(book.active)
    for rows in sheets:
        page = book.create_sheet()
        for row in rows:
            page.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_row_that_sums_up_the_table_is_no_record(tmp_path: Path, form: str, below: str) -> None:
    rows = [NAMES, *BODY, *([[]] if form == "xlsx" else []), *BELOW[below]]
    path = tmp_path / f"a.{form}"
    dataset, report = import_files(as_csv(path, rows) if form == "csv" else as_xlsx(path, rows))
    assert dataset.records["text"].to_list() == [row[1] for row in BODY]
    assert dataset.records["label_raw"].null_count() == 0
    assert any("below the table" in note for note in report.notes)


@pytest.mark.parametrize("record", RECORDS)
def test_a_last_record_with_gaps_stays_a_record(tmp_path: Path, record: str) -> None:
    dataset, _ = import_files(as_csv(tmp_path / "a.csv", [NAMES, *BODY, RECORDS[record]]))
    assert dataset.records.height == N + 1


def test_each_sheet_may_have_its_sum(tmp_path: Path) -> None:
    half = N // 2
    parts = [BODY[:half], BODY[half:]]
    sheets = [[NAMES, *part, ["Total", None, None, sum(SHARES)]] for part in parts]
    dataset, report = import_files(as_xlsx(tmp_path / "a.xlsx", *sheets))
    assert dataset.records.height == N
    assert any("2 rows below the table" in note for note in report.notes)
