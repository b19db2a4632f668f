"""Dates that a dataset cannot have are counted and named, on the right side of each border."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.catalog.columns import earliest
from claimlab.catalog.entry import Card
from claimlab.catalog.load import load
from claimlab.catalog.notes import odd_dates
from claimlab.exchange.importer import import_files


def card(citation: str = "Someone (2018), A paper.", **more: Any) -> Card:
    about = {
        "name": "made-up",
        "title": "Made up",
        "summary": "s",
        "size": 1,
        "modality": ("claims",),
        "topic": "t",
    }
    return Card.model_validate({**about, "access": "a", "citation": citation, **more})


def days(*written: str | None) -> pl.Series:
    return pl.Series(
        [None if w is None else datetime.fromisoformat(w) for w in written], dtype=pl.Datetime("us")
    )


USUAL = [f"2017-05-{i % 28 + 1:02}" for i in range(30)]


def test_dates_after_the_paper_and_decades_before_the_others_are_named() -> None:
    times = days(*USUAL, "2018-12-31", "2019-01-01", "2020-02-03", "1967-01-01", "1966-12-31", None)
    assert odd_dates(times, card()) == [
        "2 records are dated after 2018 (up to 2020-02-03), though Made up was published in 2018.",
        "1 record is dated before 1967 (from 1966-12-31): more than 5 decades before half of the dates.",
    ]
    assert odd_dates(days(*USUAL), card()) == []
    assert odd_dates(days(None), card()) == []


def test_the_time_that_the_card_gives_goes_before_both() -> None:
    stated = card(time_start="2017-06", time_end="2019-03-01")
    times = days(*USUAL, "2019-12-31", "2020-01-01", "2016-12-31", "1930-01-01")
    assert odd_dates(times, stated) == [
        "1 record is dated after 2019 (up to 2020-01-01), though the card gives 2019-03-01 as the end.",
        "2 records are dated before 2017 (from 1930-01-01): the card gives 2017-06 as the start.",
    ]


def test_without_a_year_nothing_is_said_to_be_late() -> None:
    assert odd_dates(days(*USUAL, "2031-01-01"), card("A paper.")) == []


@pytest.mark.parametrize(("n", "first"), [(19, None), (20, date(1967, 1, 1))])
def test_few_dates_have_no_middle(n: int, first: date | None) -> None:
    assert earliest(days(*USUAL[:n]).dt.date()) == first


def test_an_import_names_dates_of_another_century(tmp_path: Path) -> None:
    rows = [
        f"{i},Claim number {i} about the bridge,{day}"
        for i, day in enumerate([*USUAL, "1917-05-02", "1967-05-01"])
    ]
    (tmp_path / "c.csv").write_text("\n".join(["id,text,date", *rows]) + "\n")
    dataset, report = import_files(tmp_path / "c.csv")
    assert report.dates is not None
    assert report.dates.early == ("1917-05-02", 1)
    assert (
        "1 date is more than 5 decades before half of the dates, the first 1917-05-02."
        in dataset.notes
    )


@pytest.mark.realdata
def test_fakenewsnet_has_dates_after_its_paper(real_data: Path) -> None:
    notes = load("fakenewsnet", real_data / "fakenewsnet.zip").notes
    assert (
        "253 records are dated after 2020 (up to 2025-02-18), though FakeNewsNet was published in 2020."
        in notes
    )
    assert (
        "1 record is dated before 1968 (from 1934-08-15): more than 5 decades before half of the dates."
        in notes
    )
