"""What the loaders of the guide's other datasets make of planted rows, beyond the counts that the
walker checks.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnreadableFile


@pytest.fixture
def loaded(tmp_path: Path, sample: Callable[..., Path]) -> Callable[..., Dataset]:
    """Load the synthetic files of an entry."""
    return lambda name, **options: load(name, sample(name, tmp_path / name), **options)


def verdicts(dataset: Dataset) -> list[str | None]:
    return dataset.records["veracity"].to_list()


def test_fang_covid_has_times_in_utc_and_holds_publishers_out(
    loaded: Callable[..., Dataset],
) -> None:
    records = loaded("fang-covid", variant="media-separated").records
    assert records["date"].to_list() == [datetime(2020, 3, 26, 16, 32, 30), None]
    assert records["date_source"].to_list() == ["published", None]
    assert dict(records.select("source", "split").iter_rows()) == {
        "FreieWelt": "test",
        "tagesblatt": "train",
    }
    assert records["text"][0] == "Die Brücke ist aus Käse\n\nNiemand weiß es."


def test_the_spanish_corpus_reads_words_and_booleans_as_labels(
    loaded: Callable[..., Dataset],
) -> None:
    records = loaded("spanish-fake-news-corpus").records
    assert records["label_raw"].to_list() == ["Fake", "True", "false"]
    assert records["veracity"].to_list() == ["false", "true", "false"]
    assert records["split"].to_list() == ["train", "train", "test"]
    assert records["topic"].to_list() == ["Society", "Society", "Covid-19"]


def test_nela_labels_are_of_sources_and_their_two_codings_are_named(
    loaded: Callable[..., Dataset],
) -> None:
    default = loaded("nela-gt-2020")
    older = loaded("nela-gt-2020", map="2019")
    by_source = dict(
        zip(
            default.records["source"],
            zip(verdicts(default), verdicts(older), strict=True),
            strict=True,
        )
    )
    assert by_source == {
        "rivernews": ("true", "true"),
        "hilltopdaily": ("false", "mixed"),
        "valleypost": (None, None),
    }
    assert any("1 of 3" in note for note in default.notes)


def test_fakehealth_keeps_reviews_as_evidence_and_counts_missing_texts(
    loaded: Callable[..., Dataset],
) -> None:
    dataset = loaded("fakehealth")
    assert verdicts(dataset) == ["true", "false", "true"]
    assert dataset.records["text"][1] == "Tea heals all", (
        "without its text a review leaves the headline"
    )
    assert any("1 of 3" in note for note in dataset.notes)
    assert dataset.tables["evidence"]["text"].to_list() == ["Names the harms.", "Names no source."]


def test_reaction_frames_are_one_record_per_headline(loaded: Callable[..., Dataset]) -> None:
    dataset = loaded("misinfo-reaction-frames")
    answers = dataset.tables["annotations"].filter(pl.col("question") == "spread")
    assert answers["value"].to_list() == ["4", "1", "2"]
    assert answers["record_id"].to_list() == [dataset.records["id"][i] for i in (0, 0, 1)]


def test_fake_stories_and_satire_differ_by_map(loaded: Callable[..., Dataset]) -> None:
    assert verdicts(loaded("fakenews")) == ["false", "unknown"]
    satire_is_false = loaded("fakenews", map="cdl")
    assert verdicts(satire_is_false) == ["false", "false"]
    assert any("Only one class" in note for note in satire_is_false.notes)
    first = satire_is_false.records.row(0, named=True)
    assert first["text"] == "The bridge is made of cheese\n\nNobody in town knows.\nMice do."
    assert first["url"] == "https://a.example/1"
    assert json.loads(first["meta"]) == {"rebuttal": "https://check.example/1"}


def test_mr2_tells_languages_by_script(loaded: Callable[..., Dataset]) -> None:
    assert loaded("mr2").records["language"].to_list() == ["zho", "eng", "eng"]


def test_voterfraud_has_ids_and_no_verdicts(loaded: Callable[..., Dataset]) -> None:
    dataset = loaded("voterfraud2020")
    assert dataset.records["veracity"].null_count() == 3
    assert dataset.records["tweet_id"][0] == "1319500000000000001"
    assert any("ids without text" in note for note in dataset.notes)


@pytest.mark.parametrize(
    ("name", "member", "content", "said"),
    [
        ("fang-covid", "articles/0.json", "[1]", "not an object"),
        ("fang-covid", "articles/0.json", '{"text": "x"}', "no column 'article'"),
        ("mr2", "dataset_items_train.json", "[]", "not an object"),
        ("nela-gt-2020", "labels.csv", "source,label\na,0\n", "no articles in JSON"),
        ("misinfo-reaction-frames", "train.tsv", "title\tlabel\nx\ty\n", "no column 'headline'"),
        (
            "fake-news-elections",
            "train.csv",
            "words,label\nx,REAL\n",
            "no column 'text' or 'content'",
        ),
        ("fakehealth", "other.txt", "x", "holds no file like"),
        ("spanish-fake-news-corpus", "other.txt", "x", "holds no file like"),
        ("voterfraud2020", "other.csv", "a\n1\n", "holds no file like"),
    ],
)
def test_a_wrong_layout_is_a_sentence(
    name: str, member: str, content: str, said: str, tmp_path: Path
) -> None:
    target = tmp_path / "raw" / member
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content, encoding="utf-8")
    with pytest.raises(UnreadableFile, match=said):
        load(name, tmp_path / "raw")
