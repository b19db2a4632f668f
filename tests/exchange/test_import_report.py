"""What the report finds, on data with planted faults."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from claimlab.exchange.importer import import_files
from claimlab.exchange.importing import report as findings
from claimlab.exchange.importing.report import (
    TEXTS_SAMPLED,
    ImportReport,
    languages_of,
    repeats,
)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def text_of(i: int) -> str:
    return (
        f"Claim number {i} says that bridge {i * 7} in Riverton was closed for {i} days last year"
    )


def test_planted_faults_are_counted(tmp_path: Path) -> None:
    soon = (datetime.now() + timedelta(days=400)).date().isoformat()
    lines = ["id,text,verdict,date"]
    lines += [f"{i},{text_of(i)},false,2019-05-0{i % 9 + 1}" for i in range(40)]
    lines += [f"d{i},{text_of(1)},false,1970-01-01" for i in range(3)]
    lines += ["e1,,false,not a date", f"e2, ,,{soon}", "short,row", "too,many,cells,in,it"]
    dataset, report = import_files([write(tmp_path / "p.csv", lines)])
    assert report.rows_read == 47
    assert report.records == 45
    assert report.refused == {"wrong number of columns": 2}
    assert [row["number"] for row in report.refused_rows] == [47, 48]
    assert report.duplicate_texts == 3
    assert report.empty_texts == 2
    assert report.one_class == "false"
    assert report.without_label == 1
    assert report.dates is not None
    assert (report.dates.placeholders, report.dates.future, report.dates.unparsed) == (
        {"1970-01-01": 3},
        1,
        1,
    )
    words = "\n".join(report.lines())
    for sentence in ("2 rows refused", "line 47: 2 cells instead of 4", "Only one class ('false')", "with exactly the text of an earlier one",
                     "'not a date'", "1970-01-01", "in the future"):  # fmt: skip
        assert sentence in words
    counts = dataset.lineage[0].counts
    assert (counts["rows_read"], counts["rows_refused"], counts["records"]) == (47, 2, 45)
    assert any("Only one class" in note for note in dataset.notes)
    assert not any("future" in note for note in dataset.notes), (
        "what depends on today is not written into the dataset"
    )


def test_an_unread_date_stays_in_meta(tmp_path: Path) -> None:
    lines = [
        "id,text,date",
        *[f"{i},{text_of(i)},2019-05-01" for i in range(9)],
        f"x,{text_of(99)},sometime in May",
    ]
    dataset, _ = import_files([write(tmp_path / "p.csv", lines)])
    assert dataset.records["date"][9] is None
    assert "sometime in May" in dataset.records["meta"][9]


def test_repeats_are_exact() -> None:
    assert repeats(pl.Series(["a", "b", "a", "a"])) == 2
    assert repeats(pl.Series(["a", "b"])) == 0


def test_languages_are_the_files_own_or_those_of_every_text() -> None:
    def identify(texts: pl.Series) -> list[str | None]:
        return ["eng" if t is not None and t.endswith("1") else None for t in texts]

    own = pl.DataFrame({"language": ["eng", "por", "eng", None], "text": ["a"] * 4})
    assert languages_of(own, identify, 0)[0].counts == {"eng": 2, "por": 1}
    texts = [None, *(f"t{i}" for i in range(5_000))]
    silent = pl.DataFrame(
        {"language": pl.Series([None] * len(texts), dtype=pl.String), "text": texts}
    )
    found, stored = languages_of(silent, identify, 7)
    assert found.method == "identified in all 5,000 texts"
    assert (found.counts, found.unknown, found.stored) == ({"eng": 500}, 4_500, True), (
        "a missing text is not unknown"
    )
    assert silent.filter(stored == "eng")["text"].to_list() == [
        t for t in texts if t and t.endswith("1")
    ]
    empty = pl.DataFrame(
        {"language": [None], "text": [None]}, schema={"language": pl.String, "text": pl.String}
    )
    assert languages_of(empty, identify, 0)[0].method == "no texts"


def test_of_very_many_texts_a_sample_is_measured_and_no_language_is_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[list[str]] = []

    def identify(texts: pl.Series) -> list[str | None]:
        seen.append(texts.to_list())
        return ["eng" if t.endswith("1") else None for t in texts]

    monkeypatch.setattr(findings, "MOST_TEXTS_IDENTIFIED", 3_000)
    texts = pl.DataFrame({"text": [f"t{i}" for i in range(3_500)]}).with_columns(
        language=pl.lit(None, pl.String)
    )
    found, stored = languages_of(texts, identify, 7)
    assert languages_of(texts, identify, 7)[0] == found
    assert seen[0] == seen[1]
    assert len(seen[0]) == TEXTS_SAMPLED == found.counts["eng"] + found.unknown
    assert found.method == "measured on 2,000 of 3,500 texts, drawn with seed 7"
    assert stored.null_count() == 3_500, "a few known ones would pass for all"
    assert "The language of every record is null" in ImportReport(languages=found).warnings()[-1]
    repeated = texts.with_columns(text=pl.lit("the same 1"))
    assert languages_of(repeated, identify, 7)[1].to_list() == ["eng"] * 3_500, (
        "distinct texts are counted"
    )


def test_languages_are_measured_when_the_file_names_none(tmp_path: Path) -> None:
    english = (
        "The council of the town said that the old bridge will be closed for repairs next year"
    )
    portuguese = (
        "A câmara da cidade disse que a ponte antiga será fechada para obras no próximo ano"
    )
    lines = [
        "id,text",
        *[f"{i},{english} {i}" for i in range(8)],
        *[f"p{i},{portuguese} {i}" for i in range(4)],
    ]
    dataset, report = import_files([write(tmp_path / "p.csv", lines)])
    assert report.languages is not None
    assert report.languages.counts == {"eng": 8, "por": 4}
    assert dataset.records["language"].to_list() == ["eng"] * 8 + ["por"] * 4
