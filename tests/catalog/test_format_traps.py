"""Traps of the formats, on the made-up rows: no real data needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.core.errors import UnreadableFile


@pytest.fixture
def raw(tmp_path: Path, request: pytest.FixtureRequest, sample: Callable[..., Path]) -> Path:
    """The synthetic files of the dataset named by the test's parameter, in a folder."""
    return sample(request.param, tmp_path)


def rows_of(source: Path, name: str, variant: str | None = None) -> dict[str, dict[str, object]]:
    return {
        row["id"]: row for row in load(name, source, variant=variant).records.iter_rows(named=True)
    }


@pytest.mark.parametrize("raw", ["fakeddit"], indirect=True)
def test_fakeddit_reads_titles_with_line_breaks(raw: Path) -> None:
    posts = rows_of(raw, "fakeddit")
    assert posts["fakeddit-aa2"]["text"] == '"Mind the bridge" \nposter 1915'
    assert posts["fakeddit-aa2"]["author"] is None
    assert posts["fakeddit-aa2"]["date"] == datetime(2014, 5, 13, 16, 53, 20)
    assert posts["fakeddit-aa3"]["group"] == posts["fakeddit-cc1"]["group"] == "aa3"
    assert posts["fakeddit-aa1"]["group"] is None
    assert posts["fakeddit-cc1"]["url"] is None
    assert json.loads(str(posts["fakeddit-dd1"]["meta"]))["6_way_label"] == "1"
    lines = load("fakeddit", raw, variant="lines")
    assert lines.records["label_raw"].null_count() == 2
    assert any("2 rows without a label: pieces" in note for note in lines.notes)


@pytest.mark.parametrize("raw", ["fake-br"], indirect=True)
def test_fake_br_orders_by_number_and_drops_the_mark(raw: Path) -> None:
    full = rows_of(raw, "fake-br")
    assert [i.rsplit("-", 1)[1] for i in full] == ["1", "2", "10"] * 2
    true = full["fake-br-true-1"]
    assert str(true["text"]).startswith("O rio")
    assert (true["author"], true["source"], true["date"]) == (
        "Ana",
        "jornal.exemplo.org",
        datetime(2017, 2, 6),
    )
    assert (full["fake-br-fake-10"]["date"], full["fake-br-fake-10"]["date_source"]) == (None, None)
    assert full["fake-br-fake-1"]["author"] is None
    bare = rows_of(raw, "fake-br", "normalised")["fake-br-fake-3"]
    assert (bare["url"], bare["meta"], bare["group"]) == (None, None, "pair-3")


@pytest.mark.parametrize("raw", ["f3"], indirect=True)
def test_f3_keeps_a_text_once_with_both_splits(raw: Path) -> None:
    records = rows_of(raw, "f3")
    assert records["f3-h-1"]["split"] == "train"
    assert json.loads(str(records["f3-h-1"]["meta"]))["split_by_article_type"] == "test"
    assert records["f3-h-3"]["split"] is None
    assert records["f3-m-1"]["group"] == records["f3-m-2"]["group"] == records["f3-h-1"]["group"]
    change = json.loads(str(records["f3-m-2"]["meta"]))["synthetic"]["changes"]
    assert change == [{"degree": "critical", "kind": "perturbation"}]


@pytest.mark.parametrize("raw", ["checkthat"], indirect=True)
def test_checkthat_prefers_the_gold_twin(raw: Path) -> None:
    records = load("checkthat", raw).records
    fair = records.filter(pl.col("tweet_id") == "1004")
    assert fair["label_raw"].to_list() == ["1"]
    assert dict(records["language"].value_counts().rows()) == {"eng": 4, "tur": 1}
    assert set(records["split"]) == {"train", "dev-test", "test"}


@pytest.mark.parametrize("raw", ["afacta"], indirect=True)
def test_policlaim_joins_models_by_sentence(raw: Path) -> None:
    dataset = load("afacta", raw)
    answers = dataset.tables["annotations"].filter(pl.col("record_id") == "afacta-RV2022-1")
    who = set(answers["annotator"])
    assert who == {"annotator 1", "annotator 2", "gpt-4", "gpt-3.5", "llama"}
    thought = answers.filter(pl.col("question") == "verifiable, sample 2")
    assert thought["rationale"].to_list() == ["A year is given."]
    assert answers.filter(question="Q2", annotator="annotator 1").is_empty(), (
        "a blank cell is no answer"
    )


@pytest.mark.parametrize("raw", ["fnc-1"], indirect=True)
def test_a_missing_part_is_said_and_a_missing_whole_is_an_error(raw: Path) -> None:
    (raw / "train_stances.csv").unlink()
    dataset = load("fnc-1", raw)
    assert set(dataset.records["split"]) == {"test"}
    assert any("train_stances.csv" in note for note in dataset.notes)
    (raw / "competition_test_stances.csv").unlink()
    with pytest.raises(UnreadableFile, match="holds no file like"):
        load("fnc-1", raw)


@pytest.mark.parametrize("raw", ["truthseeker2023"], indirect=True)
def test_one_class_is_said(raw: Path) -> None:
    file = raw / "Truth_Seeker_Model_Dataset.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:4]))
    assert any("Only one class ('true')" in note for note in load("truthseeker2023", raw).notes)


@pytest.mark.parametrize("raw", ["factck-br"], indirect=True)
def test_a_file_without_its_column_is_a_sentence(raw: Path) -> None:
    file = raw / "FACTCKBR.tsv"
    file.write_text(file.read_text().replace("claimReviewed", "claim"))
    with pytest.raises(UnreadableFile, match=r"no column 'claimReviewed' \(it has: URL, Author"):
        load("factck-br", raw)


@pytest.mark.parametrize("raw", ["evolved-claims"], indirect=True)
def test_a_line_without_its_field_is_a_sentence(raw: Path) -> None:
    file = raw / "data" / "seed.jsonl"
    file.write_text(file.read_text().replace("seed_claim", "claim"))
    with pytest.raises(UnreadableFile, match="not laid out as .*seed_claim"):
        load("evolved-claims", raw, variant="seed")


@pytest.mark.parametrize("raw", ["factck-br"], indirect=True)
def test_a_limited_load_keeps_no_orphans(raw: Path) -> None:
    dataset = load("factck-br", raw, limit=2)
    assert dataset.tables["evidence"]["record_id"].to_list() == dataset.records["id"].to_list()
