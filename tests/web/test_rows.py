"""Rows of a file, page by page: whatever is read ahead or through, the pages are those of the whole
table.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from claimlab.core.dataset import RECORDS, Dataset
from claimlab.web import rows
from claimlab.web.filters import RecordFilters

N = 3_000


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("rows") / "data"
    frame = pl.DataFrame(
        {
            "id": [f"r{i:04}" for i in random.permutation(N)], "text": ["x" * int(n) for n in random.integers(1, 3_000, N)],
            "veracity": random.choice(["true", "false"], N), "source": random.choice(["a", "b", ""], N),
        }
    )  # fmt: skip
    Dataset.build("data", frame.with_columns(pl.col("source").replace("", None))).write(folder)
    return folder / RECORDS


@pytest.mark.parametrize("sort", ["source", "-source", "id", "-id"])
@pytest.mark.parametrize(
    ("size", "near"), [(7, 20_000), (7, 1), (200, 1)]
)  # read through, apart, all at once
def test_pages_of_an_order_are_the_sorted_table(
    file: Path, sort: str, size: int, near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_NEAR_ROWS", near)
    rows._windows.clear()
    table = pl.read_parquet(file).filter(pl.col("veracity") == "true")
    table = table.sort(
        sort.removeprefix("-"), descending=sort[0] == "-", nulls_last=True, maintain_order=True
    )
    chosen = rows.FilteredRows.of(file, RecordFilters(sort=sort, veracity=["true"]))
    last = -(-table.height // size)
    for number in (1, 2, 3, *range(last, 0, -1), last + 1):  # the first from what is not sorted yet
        page, here, total = chosen.page(number, size)
        assert (here, total) == (min(number, last), table.height)
        expected = table.slice((here - 1) * size, size)
        assert page["id"].to_list() == expected["id"].to_list()
        assert (
            page["text"].to_list() == expected["text"].str.slice(0, rows._CHARACTERS_KEPT).to_list()
        )


def test_a_page_that_was_read_is_not_read_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = rows.FilteredRows.of(file, RecordFilters(sort="-veracity"))
    pages = [chosen.page(number, 50)[0] for number in (1, 2)]
    monkeypatch.setattr(rows, "take", None)  # whoever reads fails
    assert [chosen.page(number, 50)[0].equals(page) for number, page in enumerate(pages, 1)] == [
        True,
        True,
    ]
    assert chosen.page(3, 50)[0].height == 50  # it was read with the second


@pytest.mark.parametrize(("size", "known"), [(5, False), (200, True)])
def test_what_few_rows_hold_is_looked_for_once(
    file: Path, size: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_MANY_ROWS", 100)
    table = pl.read_parquet(file)[::30]
    chosen = rows.FilteredRows.of(file, RecordFilters(q="X"), table["id"].to_list())
    monkeypatch.setattr(rows.FilteredRows, "_keys", None)  # whoever reads the file again fails
    page, _, total = chosen.page(1, size)
    assert page["id"].to_list() == table["id"].to_list()[:size]
    assert total == (table.height if known else None)


def test_lengths_are_those_of_the_texts_that_are_chosen(file: Path) -> None:
    table = pl.read_parquet(file).with_columns(n=pl.col("text").str.len_chars())
    filters = RecordFilters(veracity=["true"], shortest=100, longest=999)
    mine = table.filter(pl.col("veracity") == "true", pl.col("n").is_between(100, 999))
    chosen = rows.FilteredRows.of(file, filters)
    assert chosen.page(1, N)[0]["id"].to_list() == mine["id"].to_list()
    for least, most, count in chosen.lengths():
        assert count == mine.filter(pl.col("n").is_between(least, most - 1)).height
    assert sum(count for *_, count in chosen.lengths()) == mine.height
