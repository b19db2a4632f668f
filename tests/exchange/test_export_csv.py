"""Cells: no text can start a formula in a spreadsheet, and every text can be had back."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from claimlab.core.dataset import Dataset
from claimlab.core.record import to_records
from claimlab.exchange.export import export
from claimlab.files.cells import escape_cells, unescape_cells
from claimlab.files.tables import read_delimited


def escaped(texts: list[str | None]) -> list[str | None]:
    return (
        pl.DataFrame({"x": pl.Series(texts, dtype=pl.String)})
        .select(escape_cells(pl.col("x")))["x"]
        .to_list()
    )


def plain(cells: list[str | None]) -> list[str | None]:
    return (
        pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)})
        .select(unescape_cells(pl.col("x")))["x"]
        .to_list()
    )


def runs(cell: str) -> bool:
    """Whether a spreadsheet might run `cell`: what is left of it after blanks and marks starts a
    formula.

    Written from the definition (NFKC, Unicode categories) rather than from the rule under test.
    """
    visible = "".join(
        c for c in unicodedata.normalize("NFKC", cell) if unicodedata.category(c)[0] not in "ZC"
    )
    return visible[:1] in ("=", "+", "-", "@") or cell[:1] in ("\t", "\r", "\n")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@a", "'@a"), ("\ta", "'\ta"), ("\ra", "'\ra"), ("\na", "'\na"),
        ("＝1", "'＝1"), ("＋1", "'＋1"), ("－1", "'－1"), ("＠a", "'＠a"), ("  =1", "'  =1"), ("\u200b=1", "'\u200b=1"),
        ("\u00a0=1", "'\u00a0=1"), ("'a", "''a"), ("", "'"), ("plain", "plain"), ("a=1", "a=1"), (" a", " a"), ("é", "é"),
    ],
)  # fmt: skip
def test_the_rule(text: str, cell: str) -> None:
    assert escaped([text]) == [cell]
    assert plain([cell]) == [text]


def test_null_is_an_empty_cell() -> None:
    assert escaped([None]) == [None]
    assert plain(["", None]) == [None, None]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.none()
        | st.text(st.characters(exclude_categories=["Cs"]))
        | st.text("=+-@＝'\t\r\n \u200b1a"),
        min_size=1,
    )
)
def test_any_text_is_safe_and_comes_back(texts: list[str | None]) -> None:
    cells = escaped(texts)
    assert plain(cells) == texts
    assert not [c for c in cells if c is not None and runs(c)]


def test_no_cell_of_an_export_runs(hard: Dataset, tmp_path: Path) -> None:
    export(hard, "csv", tmp_path / "out")
    files = sorted((tmp_path / "out").glob("*.csv"))
    assert "records.csv" in [file.name for file in files]
    for file in files:
        rows = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"), newline="")))
        risky = [
            c
            for row in rows
            for c in row
            if runs(c) and not re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", c)
        ]
        assert risky == [], file.name


def test_the_reader_of_import_gets_every_record(hard: Dataset, tmp_path: Path) -> None:
    """What `claimlab import` reads tables with, then the rule undone: the same records."""
    export(hard, "csv", tmp_path / "out", bom=True)
    data = (tmp_path / "out" / "records.csv").read_bytes()
    table = read_delimited(data.decode("utf-8-sig")).select(unescape_cells(pl.all()))
    assert_frame_equal(
        to_records(table.with_columns(pl.col("date").str.to_datetime(time_unit="us"))), hard.records
    )


def test_the_mark_is_there_only_when_asked(hard: Dataset, tmp_path: Path) -> None:
    export(hard, "csv", tmp_path / "plain")
    export(hard, "csv", tmp_path / "marked", bom=True)
    for name in ("records", "evidence"):
        bare, marked = ((tmp_path / f / f"{name}.csv").read_bytes() for f in ("plain", "marked"))
        assert marked == b"\xef\xbb\xbf" + bare


def test_a_cell_taken_into_a_workbook_is_text(tmp_path: Path) -> None:
    """openpyxl, like spreadsheets, takes a leading "=" as a formula; the escaped cell stays
    text.
    """
    sheet = openpyxl.Workbook().active
    assert sheet is not None
    sheet["A1"], sheet["A2"] = "=1+1", escaped(["=1+1"])[0]
    assert (sheet["A1"].data_type, sheet["A2"].data_type) == ("f", "s")
