from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.core.errors import UnknownName, UnreadableFile


def test_a_file_of_another_layout_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(
        '{"claim": ["not", "text"], "evidences": 3}\n', encoding="utf-8"
    )
    with pytest.raises(UnreadableFile, match="Give the"):
        load("climate-fever", tmp_path)
    with pytest.raises(
        UnreadableFile, match=r"holds no file like .*train.tsv.* \(it holds: train.jsonl\)"
    ):
        load("liar", tmp_path)


def test_wrong_names_name_the_near_miss(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'liar'"):
        load("lair", tmp_path)
    with pytest.raises(UnknownName, match="label map of liar"):
        load("liar", tmp_path, map="zz")
    with pytest.raises(UnknownName, match="Did you mean 'engagements'"):
        load("coaid", tmp_path, variant="engagement")


@pytest.mark.realdata
def test_a_limit_cuts_side_tables_too(real_data: Path) -> None:
    some = load("climate-fever", real_data / "climate-fever.zip", limit=3)
    assert some.records.height == 3
    assert some.tables["evidence"]["record_id"].n_unique() == 3
    assert (
        some.tables["evidence"]
        .filter(~pl.col("record_id").is_in(some.records["id"].to_list()))
        .is_empty()
    )
