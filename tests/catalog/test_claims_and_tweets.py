"""What the walker of all entries cannot see: groups, joins, dates, evidence and ids of the claim
and tweet datasets.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.catalog.readers.coaid import published
from claimlab.core.errors import UnreadableFile


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("4/21/20", datetime(2020, 4, 21)),
        ("9/16/20 17:09", datetime(2020, 9, 16, 17, 9)),
        ("8-Oct-20", datetime(2020, 10, 8)),
        ("2020-04-01T01:00:00+02:00", datetime(2020, 3, 31, 23)),
        ("20200331T17:35:54Z", datetime(2020, 3, 31, 17, 35, 54)),
        ("Mar 24, 2020 at 12:10pm PDT", datetime(2020, 3, 24, 19, 10)),
        ("April 17, 2020 At 5:47 pm", datetime(2020, 4, 17, 17, 47)),
        ("3 months ago", None),
        ("15-May", None),
        ("", None),
        (None, None),
    ],
)
def test_coaid_dates(raw: str | None, expected: datetime | None) -> None:
    assert published(pl.Series([raw], dtype=pl.String)).to_list() == [expected]


def test_coaid_engagements_repeat_the_item_and_stay_with_it(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    records = load("coaid", sample("coaid", tmp_path), variant="engagements").records
    tea = records.filter(pl.col("group") == "coaid-2020-05-01-claim-fake-100000")
    assert tea["text"].unique().to_list() == ['"Hot tea kills the virus"']
    assert tea["tweet_id"].to_list() == [
        "1250000000000000001",
        "1250000000000000001",
        "1250000000000000002",
    ]
    assert tea["meta"].str.json_path_match("$.reply_id").to_list() == [
        "1250000000000000011",
        "1250000000000000012",
        None,
    ]
    assert set(records["date_source"].to_list()) == {"snapshot folder"}
    assert (
        records.filter(pl.col("tweet_id").is_null()).height == 3
    )  # items without a tweet are kept


def test_coaid_items_keep_real_dates_only_and_cite_the_fact_check(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    dataset = load("coaid", sample("coaid", tmp_path))
    dated = dict(dataset.records.select("id", "date").iter_rows())
    assert dated["coaid-2020-05-01-news-real-7"] == datetime(2020, 3, 31, 23)
    assert dated["coaid-2020-11-01-news-fake-945"] is None
    assert dataset.tables["evidence"]["url"].to_list() == [
        "https://checks.example/7",
        "https://checks.example/9",
    ]
    assert dataset.records["source"].drop_nulls().to_list() == ["myths.example", "health.example"]


def test_fibvid_join_has_the_claims_words_and_the_tweets_time(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    records = load("fibvid", sample("fibvid", tmp_path), variant="join").records
    garlic = records.filter(pl.col("group") == "fibvid-1")
    assert garlic["text"].n_unique() == 1
    assert garlic["date"].to_list() == [datetime(2020, 3, 2, 10, 11, 12), datetime(2020, 3, 4)]
    assert records.filter(pl.col("group") == "fibvid-3")["tweet_id"].to_list() == [
        None
    ]  # rounded by a spreadsheet


def test_versions_of_one_claim_share_a_group(tmp_path: Path, sample: Callable[..., Path]) -> None:
    for name, groups in {"covid-fact": 2, "check-covid": 1, "hover": 1}.items():
        assert load(name, sample(name, tmp_path / name)).records["group"].n_unique() == groups, name


def test_covid_fact_marks_altered_claims(tmp_path: Path, sample: Callable[..., Path]) -> None:
    records = load("covid-fact", sample("covid-fact", tmp_path)).records
    assert records["authorship"].to_list() == ["HWT", "HAT", "HWT"]


def test_check_covid_takes_evidence_words_from_the_corpus_where_it_is(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    evidence = load("check-covid", sample("check-covid", tmp_path)).tables["evidence"]
    assert evidence["text"].to_list() == [
        "Tea had no effect.",
        None,
        "Tea had no effect.",
        "Forty people took part.",
    ]
    (tmp_path / "corpus.json").unlink()
    without = load("check-covid", tmp_path)
    assert without.tables["evidence"]["text"].null_count() == 4
    assert any("corpus.json" in note for note in without.notes)


def test_climate_fever_votes_are_annotations(tmp_path: Path, sample: Callable[..., Path]) -> None:
    dataset = load("climate-fever", sample("climate-fever", tmp_path))
    assert (
        dataset.tables["annotations"].height == 8
    )  # two of five places are taken, on four sentences
    assert dataset.tables["evidence"]["stance"].to_list()[:2] == ["SUPPORTS", "REFUTES"]


def test_fever_reads_pages_and_published_evidence_sets(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    evidence = load("fever", sample("fever", tmp_path), variant="all").tables["evidence"]
    assert evidence["evidence_id"].to_list() == [
        *["Northport:3", "Harbour:0", "Northport:5"],
        *["Salt_Road_-LRB-novel-RRB-", "Salt_Road_-LRB-novel-RRB-", "Northport"],
    ]
    assert evidence["title"].to_list()[3] == "Salt Road (novel)"


def test_feverous_leaves_out_the_placeholder_and_splits_evidence_lines(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    dataset = load("feverous", sample("feverous", tmp_path), variant="all")
    assert dataset.records["id"].to_list()[0] == "feverous-train-9"
    assert dataset.tables["evidence"]["title"].to_list() == [
        "Northport",
        "Northport",
        "Riverton Mill",
        "Riverton",
        "Riverton Mill",
    ]


def test_disinformation_tweets_that_come_twice_are_one_group(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    dataset = load("covid-19-disinformation", sample("covid-19-disinformation", tmp_path))
    assert dataset.records["id"].n_unique() == 4
    assert dataset.records["group"].to_list()[:2] == ["1250000000000000001"] * 2
    assert dataset.records["tweet_id"].to_list()[2] is None
    assert any("tweet ids cannot be read, such as" in note for note in dataset.notes)
    fine = dataset.tables["annotations"].filter(pl.col("question") == "q2 (fine)")
    assert fine["value"].to_list()[-1] == "3_not_sure"
    assert dataset.tables["annotations"].filter(pl.col("value") == "NA").is_empty()


def test_disinformation_joint_files_take_the_language_from_the_single_ones(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    records = load(
        "covid-19-disinformation", sample("covid-19-disinformation", tmp_path), variant="all-files"
    ).records
    assert records["language"].to_list()[-1] == "ara"


def test_nlp4if_keeps_quote_marks_and_finds_ids(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    dataset = load("nlp4if-2021", sample("nlp4if-2021", tmp_path))
    assert dataset.records["text"].str.contains('"ferry').all()
    ids = dict(dataset.records.select("id", "tweet_id").iter_rows())
    assert ids["nlp4if-2021-en-train-1"] == "1241000000000000001"
    assert ids["nlp4if-2021-ar-train-1"] is None
    assert any(
        note.startswith("1 of ") and "tweet ids cannot be read" in note for note in dataset.notes
    )


def test_a_file_of_another_kind_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "climate-fever.jsonl").write_text('{"text": "no claim here"}\n', encoding="utf-8")
    with pytest.raises(UnreadableFile, match="Object 1 of 'climate-fever.jsonl' has no 'claim_id'"):
        load("climate-fever", tmp_path)
    (tmp_path / "VaxMisinfoData.csv").write_text("ID,label\n1,0\n", encoding="utf-8")
    with pytest.raises(UnreadableFile, match="has no column 'is_misinfo'"):
        load("antivax", tmp_path)
