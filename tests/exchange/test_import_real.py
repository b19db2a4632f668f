"""The real files, without being told anything about them: every row is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.exchange.importer import guess_files, import_files

pytestmark = pytest.mark.realdata


def test_liar_keeps_all_its_rows(real_data: Path) -> None:
    """Quotes are text in these files: read as syntax, 45 rows vanish."""
    dataset, report = import_files([real_data / "liar.zip"])
    assert dataset.records.height == report.rows_read == 12_836
    assert report.refused == {}
    splits = dict(dataset.records["split"].value_counts().iter_rows())
    assert splits == {"train": 10_269, "dev": 1_284, "test": 1_283}
    assert dict(dataset.records["label_raw"].value_counts().iter_rows())["half-true"] == 2_638
    assert dataset.lineage[0].parameters["layouts"] == [
        {"format": "TSV", "encoding": "utf-8", "delimiter": "\t", "quotes": "none", "header": False}
    ]


def test_fakeddit_keeps_titles_that_span_lines_whole(real_data: Path) -> None:
    """30,000 lines with three headers are 29,997 lines of data, but seven titles hold line breaks
    inside quotes.
    """
    guess = guess_files([real_data / "fakeddit.zip"])
    assert guess.gathered.rows_read == 29_989
    assert guess.gathered.tables[0].layout.quotes == "double"
    assert guess.gathered.frame["title"].str.contains("\n").sum() == 7


ROWS = {
    "factck-br": 1_313, "covid19-br": 2_898, "defakts": 19_996, "mumin": 13_205, "climate-fever": 1_535,
    "check-covid": 1_504, "fever": 19_998, "feverous": 2_962, "buzzfeednews": 2_282, "antivax": 15_073,
    "cmu-miscov19": 4_573, "covid-fact": 4_086, "truthseeker2023": 10_000, "recovery": None, "wico": 9_688,
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n, rows in ROWS.items() if rows])
def test_rows_of_single_table_datasets(real_data: Path, name: str) -> None:
    guess = guess_files([real_data / f"{name}.zip"], label="none")
    assert guess.gathered.frame.height == ROWS[name]
    assert sum(t.refused.total for t in guess.gathered.tables) == 0


def test_fake_br_is_one_text_per_file(real_data: Path) -> None:
    dataset, _ = import_files(
        [real_data / "fake-br.zip"], only=["full_texts/true/*", "full_texts/fake/*"]
    )
    assert dict(dataset.records["veracity"].value_counts().iter_rows()) == {
        "true": 3_600,
        "false": 3_600,
    }


def test_guesses_on_real_headers(real_data: Path) -> None:
    factck = guess_files([real_data / "factck-br.zip"])
    assert (factck.column("text"), factck.column("label")) == ("claimReviewed", "alternativeName")
    assert (factck.column("date"), factck.column("url")) == ("datePublished", "URL")
    misinfo = guess_files([real_data / "antivax.zip"])
    assert (misinfo.column("tweet_id"), misinfo.column("label"), misinfo.column("text")) == (
        "id",
        "is_misinfo",
        None,
    )
