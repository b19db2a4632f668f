"""The dossier of one record: what is known, in one order, and what is missing."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import OutputExists, UsageError
from claimlab.core.record import to_records
from claimlab.pages.show import blocks
from claimlab.pages.terminal import to_text

DAY = datetime(2021, 3, 4)
PIECES = [
    {"text": "An unrelated text.", "corresponds": False, "rank": 1, "published": None},
    {"text": "The bridge is shut.", "corresponds": True, "rank": 2, "stance": "supports"},
    {"title": "Is the bridge shut?", "rating": "Half true", "verdict": "mixed", "rank": 3},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    records = to_records(
        pl.DataFrame(
            {
                "id": ["a", "b"],
                "text": ["The bridge is <b>shut</b>.", "Nothing is known."],
                "label_raw": ["pants-fire", None],
                "veracity": ["false", None],
                "date": [DAY, None],
            }
        )
    )
    rows = [
        {"record_id": "a", "evidence_id": f"e{i}", "published": DAY, "url": "https://e.example/1"}
        | piece
        for i, piece in enumerate(PIECES)
    ]
    evidence = pl.DataFrame(rows, infer_schema_length=None)
    folder = tmp_path / "data"
    Dataset(name="bridges", records=records, tables={"evidence": evidence}).write(folder)
    return folder


def dossier_of(data: Path, id: str, file: Path) -> str:
    return to_text(blocks(cl.show(data, id=id, dossier=file)), width=100)


def test_the_level_of_a_site_is_shown_where_the_user_gave_some(data: Path) -> None:
    assert "not rated" not in dossier_of(data, "a", data.parent / "a.html")
    whole = Dataset.open(data)
    level = pl.when(pl.col("rank") == 2).then(pl.lit("high"))
    whole.tables["evidence"] = whole.tables["evidence"].with_columns(site_level=level)
    whole.write(data.parent / "rated")
    text = dossier_of(data.parent / "rated", "a", data.parent / "b.html")
    assert "high" in text
    assert "not rated" in text


def test_what_corresponds_comes_first_and_what_is_missing_is_said(data: Path) -> None:
    page = data.parent / "a.html"
    text = dossier_of(data, "a", page)
    assert text.index("The bridge is shut.") < text.index("An unrelated text.")
    assert "false (as written: pants-fire)" in text
    assert "Half true" in text.partition("Fact-checks")[2].partition("Evidence")[0]
    missing = text.partition("What is missing")[2]
    assert "The record has no source." in missing
    assert "The stance of 1 piece of evidence is not measured." in missing
    assert "1 piece of evidence without a date." in missing
    html = page.read_text(encoding="utf-8")
    assert "<b>shut" not in html
    assert 'href="https://e.example/1"' in html


def test_a_fact_check_of_the_claim_is_a_verdict_and_says_what_it_is_about(data: Path) -> None:
    whole = Dataset.open(data)
    checked = pl.col("rating").is_not_null()
    whole.tables["evidence"] = whole.tables["evidence"].with_columns(
        corresponds=checked,
        title=pl.lit(None, pl.String),
        text=pl.when(checked).then(pl.lit("The bridge of Velmore.")).otherwise("text"),
        publisher=pl.when(checked).then(pl.lit("The Checker")),
    )
    whole.write(data.parent / "checked")
    text = dossier_of(data.parent / "checked", "a", data.parent / "c.html")
    verdicts = text.partition("Verdicts")[2].partition("Fact-checks")[0]
    assert "fact-check by The Checker, 2021-03-04" in verdicts
    assert "mixed (as written: Half true)" in verdicts
    assert "The bridge of Velmore." in text.partition("Fact-checks")[2].partition("Evidence")[0]
    assert "date: 2021-03-04\n" in text
    assert "without a publisher" not in text
    assert "1 fact-check without a publisher." in dossier_of(data, "a", data.parent / "d.html")


def test_a_record_of_which_nothing_is_known_has_a_dossier_of_gaps(data: Path) -> None:
    missing = dossier_of(data, "b", data.parent / "b.html").partition("What is missing")[2]
    assert [word for word in ("no label", "no date", "No evidence") if word not in missing] == []


def test_a_dossier_is_about_one_record_and_replaces_no_file_of_others(data: Path) -> None:
    page = data.parent / "c.html"
    with pytest.raises(UsageError, match="one record"):
        cl.show(data, dossier=page)
    with pytest.raises(UsageError, match="one record"):
        cl.show(data, id=["a", "b"], dossier=page)
    page.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExists):
        cl.show(data, id="a", dossier=page)
    assert page.read_text(encoding="utf-8") == "mine"
