"""Datasets circulate in more layouts than one: other files, other headers, a single file, a
spreadsheet.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from claimlab.catalog.load import load


def test_a_single_file_with_capital_headers_will_do(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path, {"DeFaktS.csv": "ID,Text,Label\n7,Guten Tag,1\n"})
    assert load("defakts", tmp_path / "DeFaktS.csv").records["veracity"].to_list() == ["false"]


def test_twitter15_as_released_in_2017(tmp_path: Path, write: Callable[..., Path]) -> None:
    """Two datasets in one folder, texts in source_tweets.txt, no events and no split."""
    files = {
        "twitter15/label.txt": "true:700000000000000001\r\nfalse:700000000000000002\r\n",
        "twitter15/source_tweets.txt": "700000000000000002\tthe moon is near\n700000000000000001\tthe sun is far\n",
        "twitter16/label.txt": "true:1\n",
        "twitter16/source_tweets.txt": "1\tanother set\n",
    }
    records = load("twitter15", write(tmp_path, files)).records
    assert records["text"].to_list() == ["the sun is far", "the moon is near"]
    assert records["group"].null_count() == 2


def test_fakenewsnet_as_published_is_preferred_over_title_lists(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    header = "id,news_url,title,tweet_ids\n"
    parts = [(s, v) for s in ("politifact", "gossipcop") for v in ("fake", "real")]
    files = {
        f"{s}_{v}.csv": f"{header}{s}-{v},u,A {v} story,937000000000000001\t937000000000000002\n"
        for s, v in parts
    }
    dataset = load("fakenewsnet", write(tmp_path, files))
    assert sorted(dataset.records["group"]) == sorted(f"{s}-{v}" for s, v in parts)
    assert dataset.tables["tweets"].height == 8
    assert load("fakenewsnet", tmp_path, variant="gossipcop").records.height == 2


def test_isot_titles_from_the_articles_alone(tmp_path: Path, write: Callable[..., Path]) -> None:
    header = "title,text,subject,date\n"
    files = {
        "True.csv": f'{header}A title,A text,x,"May 1, 2017"\n',
        "Fake.csv": f"{header} B title,B text,y,nonsense\n",
    }
    records = load("isot", write(tmp_path, files)).records
    assert records["text"].to_list() == ["A title", "B title"]
    assert records["date"].null_count() == 1
    assert records["date_source"].to_list() == ["date column", None]


def test_ct_fan_as_the_lab_publishes_it(tmp_path: Path, write: Callable[..., Path]) -> None:
    header = "public_id,title,text,our rating\n"
    files = {
        "Task3_english_training.csv": f"{header}1,A title,A text,partially false\n2,B title,B text,FALSE\n",
        "Task3_german_test.csv": f"{header}3,C Titel,C Text,TRUE\n",
    }
    records = load("ct-fan", write(tmp_path, files)).records
    assert records["text"][0] == "A title\nA text"
    assert records["veracity"].to_list() == ["mixed", "false", "true"]
    assert records["language"].to_list() == ["eng", "eng", "deu"]


def test_ct_fan_says_when_the_test_part_lies_in_train(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    files = {
        "train.csv": "title_text,label\nsame words,fake\n",
        "test.csv": "title_text,label\nsame words,fake\n",
    }
    assert any("word for word" in note for note in load("ct-fan", write(tmp_path, files)).notes)


def test_covid19_fake_news_from_spreadsheets_and_an_unlabelled_test_part(
    tmp_path: Path, write: Callable[..., Path], xlsx: Callable[..., bytes]
) -> None:
    files = {
        "English_Train.xlsx": xlsx([["id", "tweet", "label"], [1, "A post", "real"]]),
        "English_Test.xlsx": xlsx([["id", "tweet"], [1, "C"]]),
        "English_Val.csv": "id,tweet,label\n1,B post,fake\n",
    }
    dataset = load("covid19-fake-news", write(tmp_path, files))
    assert dataset.records["veracity"].to_list() == ["true", "false", None]
    assert any("1 row without a label" in note for note in dataset.notes)


def test_pheme_release_marks(tmp_path: Path, write: Callable[..., Path]) -> None:
    """annotation.json has two marks; contradictory or absent ones leave the rumour without a
    verdict.
    """
    marks = {
        "1": '{"misinformation": 0, "true": "1"}',
        "2": '{"misinformation": "1", "true": 0}',
        "3": '{"misinformation": 0, "true": 0}',
        "4": '{"misinformation": 1, "true": 1}',
        "5": '{"misinformation": 1}',
    }
    event = "all-rnr-annotated-threads/flood-all-rnr-threads/rumours"
    for number, mark in marks.items():
        tweet = f'{{"id": 52490000000000000{number}, "text": "x", "lang": "en"}}'
        write(
            tmp_path,
            {
                f"{event}/{number}/source-tweets/{number}.json": tweet,
                f"{event}/{number}/annotation.json": mark,
            },
        )
    records = load("pheme", tmp_path, variant="release").records
    assert records["label_raw"].to_list() == ["true", "false", "unverified", "rumour", "false"]
    assert set(records["group"]) == {"flood"}
    assert records["date"].null_count() == 5


def test_pheme_texts_do_not_mix_two_cleanings(tmp_path: Path, sample: Callable[..., Path]) -> None:
    sample("pheme", tmp_path)
    threads = load("pheme", tmp_path).records
    assert "http" not in " ".join(threads["text"])
    assert threads["group"].to_list() == ["riverflood"] * 4 + ["lostmayor"]


def test_claimskg_cells_are_unwrapped_and_a_missing_claim_stays_missing(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    sample("claimskg", tmp_path)
    dataset = load("claimskg", tmp_path, variant="all")
    by_source = {
        s: dataset.records.filter(pl.col("source") == s)
        for s in ("vishvanews", "factcheck_aap", "fullfact")
    }
    assert by_source["vishvanews"]["text"][0] == "तालाब नया है"
    assert by_source["vishvanews"]["topic"][0] == "lake, mill"
    assert by_source["vishvanews"]["language"].to_list() == ["mar", "tel"]
    assert by_source["factcheck_aap"]["text"].to_list() == [None]
    assert by_source["fullfact"]["date_source"].to_list() == [
        "date column (claim)",
        "date column (review)",
    ]
    assert by_source["fullfact"]["author"].null_count() == 2
    topics = dataset.tables["annotations"].filter(pl.col("value") == "1")["question"]
    assert sorted(topics) == ["topic: elections", "topic: taxes"]
