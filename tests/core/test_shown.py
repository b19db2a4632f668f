"""Every result says what it is in a line, shows its table in a notebook, and hands it to Polars and
pandas.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

from claimlab.audit.run import audit
from claimlab.clean.front import clean
from claimlab.core.dataset import Dataset
from claimlab.core.errors import MissingExtra
from claimlab.core.shown import Shown
from claimlab.detect.run import detect
from claimlab.evaluate.front import evaluate
from claimlab.exchange.importer import import_files
from claimlab.split.run import split


@pytest.fixture(scope="module")
def data() -> Dataset:
    return planted(size=320)[0]


def evaluated(data: Dataset, folder: Path) -> Shown:
    run = detect(split(data, "random").dataset, "majority")
    run.write(folder / "run")
    return evaluate(folder / "run", draws=200, by=[])


def imported(data: Dataset, folder: Path) -> Shown:
    (folder / "bad.csv").write_text(
        "text,verdict\nA claim of some words.,true\n,,,,too many\n", encoding="utf-8"
    )
    return import_files([folder / "bad.csv"], name="bad")[1]


RESULTS: dict[str, tuple[Callable[[Dataset, Path], Shown], str, str]] = {
    "audit": (
        lambda d, _: audit(d, checks=["one-class", "length"]),
        "<Audited of 'planted': 1 fail, 1 pass>",
        "check",
    ),
    "clean": (lambda d, _: clean(d), "<Cleaned 'planted': ", "step"),
    "split": (lambda d, _: split(d, "random"), "<Split of 'planted' by random: train 2", "split"),
    "evaluate": (evaluated, "<Evaluated of 1 run: ", "macro_f1"),
    "import": (imported, "<ImportReport ", "reason"),
}


@pytest.mark.needs("pandas")
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_line_a_table_and_rows(name: str, data: Dataset, tmp_path: Path) -> None:
    make, start, column = RESULTS[name]
    result = make(data, tmp_path)
    assert repr(result).startswith(start), repr(result)
    assert len(repr(result)) < 200
    assert column in result.table.columns
    assert len(result) == result.table.height == len(list(result))
    assert [row[column] for row in result] == result.table[column].to_list()
    html = result._repr_html_()
    assert "<table" in html
    assert escape(repr(result)) in html
    assert result.to_pandas().shape == result.table.shape


def test_results_that_hold_a_dataset_or_a_report_save_it(data: Dataset, tmp_path: Path) -> None:
    clean(data).save(tmp_path / "cleaned")
    split(data, "random").save(tmp_path / "split")
    assert set(Dataset.open(tmp_path / "split").records["split"].drop_nulls().unique()) == {
        "train",
        "dev",
        "test",
    }
    assert len(Dataset.open(tmp_path / "cleaned")) <= len(data)
    audit(data, checks=["one-class"]).save(tmp_path / "audit")
    evaluated(data, tmp_path).save(tmp_path / "evaluation")  # type: ignore[attr-defined]
    assert (tmp_path / "audit" / "audit.json").is_file()
    assert (tmp_path / "evaluation" / "evaluation.json").is_file()


class Hostile(Shown):
    def __init__(self, rows: int = 1) -> None:
        self.rows = rows

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame({"a": ["<script>alert(1)</script>\x1b[2J\u202e"]}).head(self.rows)

    def headline(self) -> str:
        return "<b>\x1b]0;owned\x07\nnext"


def test_what_is_shown_is_harmless() -> None:
    result = Hostile()
    assert repr(result) == "<Hostile <b>\ufffd]0;owned\ufffd next>"
    html = result._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert not {"\x1b", "\x07", "\u202e"} & set(html)


def test_a_result_without_rows_is_still_a_result() -> None:
    assert len(Hostile(rows=0)) == 0
    assert Hostile(rows=0)


def test_without_pandas_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, data: Dataset
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"claimlab\[pandas\]"):
        Hostile().to_pandas()
    with pytest.raises(MissingExtra, match=r"claimlab\[pandas\]"):
        data.to_pandas()
