"""A table that a user passes in: whole, or an error that names the first bad row."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.core.errors import UnreadableFile
from claimlab.files.read import user_table


def test_a_table_of_text_is_read_with_its_header(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n", encoding="utf-8")
    assert user_table(tmp_path / "edges.csv", "source", "target").rows() == [("a", "b"), ("b", "c")]


def test_a_row_that_cannot_be_read_is_an_error_with_its_line(tmp_path: Path) -> None:
    rows = "".join(f"{n},true\n" for n in range(30))
    (tmp_path / "people.csv").write_text(f"id,value\n{rows}31,false,extra\n", encoding="utf-8")
    with pytest.raises(
        UnreadableFile, match=r"'people\.csv' has 1 row that cannot be read; the first is line 32"
    ):
        user_table(tmp_path / "people.csv", "id", "value")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"no\.csv"):
        user_table(tmp_path / "no.csv")
