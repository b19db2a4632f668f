"""The one report writer: what it writes, what it refuses, and that a page that would be too large
is cut.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from claimlab.core.errors import ClaimlabError, OutputExists, UsageError
from claimlab.core.guard import foreign_files, kind_of
from claimlab.pages.blocks import Figure, Report, Section, Table, Text
from claimlab.pages.folder import Contents, fill, write_report

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><circle cx="5" cy="5" r="4"/></svg>'


def page(text: str = "Found.", *, name: str = "one") -> Report:
    return Report(
        "A report", blocks=[Section("Part", [Text(text), Figure(SVG, "A circle.", "circle", name)])]
    )


def contents(kind: str = "test report", text: str = "Found.") -> Contents:
    return Contents(
        kind,
        [page(text), Report("A shorter report")],
        data={"data.json": {"n": 3, "text": "é"}},
        more_pages={"other.html": [Report("Another page")]},
        papers={"paper.tex": Report("On paper")},
        paper_tables={"row.tex": [Table(["a"], [[1]])]},
        files={"note.csv": "a,b\n", "rows.parquet": pl.DataFrame({"a": [1]})},
    )


def test_every_view_is_written_and_listed(tmp_path: Path) -> None:
    write_report(contents(), tmp_path / "r")
    names = {
        p.relative_to(tmp_path / "r").as_posix() for p in (tmp_path / "r").rglob("*") if p.is_file()
    }
    views = {"index.html", "other.html", "report.md", "paper.tex", "plots/one.svg", "plots/one.png"}
    views |= {"row.tex", "row.png"}
    assert names == {".claimlab.json", "data.json", "note.csv", "rows.parquet", *views}
    assert json.loads((tmp_path / "r" / "data.json").read_text(encoding="utf-8")) == {
        "n": 3,
        "text": "é",
    }
    assert (tmp_path / "r" / "plots" / "one.png").read_bytes().startswith(b"\x89PNG")
    assert "plots/one.svg" in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert "On paper" in (tmp_path / "r" / "paper.tex").read_text(encoding="utf-8")
    assert kind_of(tmp_path / "r") == "test report"
    assert foreign_files(tmp_path / "r") == []


def test_same_contents_same_bytes(tmp_path: Path) -> None:
    write_report(contents(), tmp_path / "a")
    write_report(contents(), tmp_path / "b")
    first, second = (
        {
            str(p.relative_to(tmp_path / d)): p.read_bytes()
            for p in (tmp_path / d).rglob("*")
            if p.is_file()
        }
        for d in ("a", "b")
    )
    assert "index.html" in first
    assert first == second


def test_a_page_that_is_too_large_is_the_shorter_one_but_markdown_and_figures_stay_full(
    tmp_path: Path,
) -> None:
    write_report(contents(text="x " * 1_100_000), tmp_path / "r")
    assert "A shorter report" in (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert "# A report" in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert (tmp_path / "r" / "plots" / "one.svg").is_file()


def test_a_failure_leaves_nothing_and_the_old_report_whole(tmp_path: Path) -> None:
    write_report(contents(), tmp_path / "r")
    before = (tmp_path / "r" / "index.html").read_bytes()
    too_large = Contents("test report", [page("x " * 1_100_000)])
    with pytest.raises(ClaimlabError, match="bytes"):
        write_report(too_large, tmp_path / "r", force=True)
    assert (tmp_path / "r" / "index.html").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r"]


def test_force_replaces_the_same_kind_and_nothing_of_the_user(tmp_path: Path) -> None:
    write_report(contents(), tmp_path / "r")
    with pytest.raises(OutputExists, match="already exists"):
        write_report(contents(), tmp_path / "r")
    write_report(contents(text="Second."), tmp_path / "r", force=True)
    assert "Second." in (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    with pytest.raises(OutputExists, match="holds a claimlab test report"):
        write_report(contents(kind="other report"), tmp_path / "r", force=True)
    (tmp_path / "r" / "my_notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExists, match=r"my_notes\.txt"):
        write_report(contents(), tmp_path / "r", force=True)
    assert (tmp_path / "r" / "my_notes.txt").read_text(encoding="utf-8") == "mine"
    with pytest.raises(UsageError, match="is the input"):
        write_report(contents(), tmp_path / "new", reads=[tmp_path / "new"])


def test_a_report_can_be_part_of_a_larger_folder(tmp_path: Path) -> None:
    fill(contents(), tmp_path / "report")
    assert (tmp_path / "report" / "index.html").is_file()
    assert kind_of(tmp_path / "report") == "test report"
