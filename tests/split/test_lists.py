"""Published lists: BLUFF's uuid lists, files per side and tables, with orphans and doubles
counted.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.core.errors import DataError, UnknownName, UnreadableFile, UsageError
from claimlab.split.run import split
from claimlab.split.strategy import Impossible

from .conftest import Make


def bluff_tree(folder: Path, lists: dict[str, list[str]]) -> Path:
    """The catalogue's synthetic tree, with other split lists."""
    sample = Path(__file__).parents[1] / "catalog" / "samples" / "bluff" / "raw"
    shutil.copytree(sample, folder, ignore=shutil.ignore_patterns("splits"), dirs_exist_ok=True)
    files = {
        f"data/splits/evaluation/{name}.json": json.dumps(uuids) for name, uuids in lists.items()
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(str(text), encoding="utf-8")
    return folder / "data"


def test_bluffs_lists_by_setting_with_orphans_counted(tmp_path: Path) -> None:
    lists = {
        "multilingual/train": ["g-1", "gone-1", "gone-2"],
        "multilingual/val": ["h-1"],
        "cross_lingual_family/Turkic/train": ["h-1"],
        "cross_lingual_family/Turkic/val": ["g-1"],
        "cross_lingual_family/Turkic/test": ["g-1"],
    }
    tree = bluff_tree(tmp_path, lists)
    dataset = load("bluff", tree)
    for source in (None, tree):  # the table that came with the dataset, or the tree itself
        done = split(dataset, "lists", lists=source)
        sides = set(done.dataset.records.select("group", "split").unique().iter_rows())
        assert sides == {("g-1", "train"), ("h-1", "dev")}
        assert done.name == "lists:multilingual"
        assert "The lists are keyed by 'group': 4 ids, 2 of them not in the data." in done.notes()
        assert any("No list for test" in note for note in done.notes())
    torn = split(dataset, "lists", setting="cross_lingual_family/Turkic")
    assert torn.parts.left_out == {"its id is in several lists": 4}
    with pytest.raises(UnknownName, match="split setting"):
        split(dataset, "lists", setting="cross_lingual_family/Klingon")


def test_a_file_for_each_side(make: Make, tmp_path: Path) -> None:
    dataset = make(30)
    ids = dataset.records["id"].to_list()
    for name, mine in {"train": ids[:18], "validation": ids[18:20], "test": ids[20:28]}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(mine))
    done = split(dataset, "lists", lists=tmp_path)
    assert done.checked.sides() == {"train": 18, "dev": 2, "test": 8}
    assert done.parts.left_out == {"its id is in no list": 2}


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_table_of_ids(make: Make, tmp_path: Path, form: str) -> None:
    dataset = make(30)
    table = dataset.records.select("id", pl.lit("train").alias("split"))
    table = table.with_columns(
        pl.when(pl.int_range(30) < 10).then(pl.lit("Test")).otherwise("split").alias("split")
    )
    file = tmp_path / f"s.{form}"
    if form == "csv":
        table.write_csv(file)
    elif form == "parquet":
        table.write_parquet(file)
    else:
        sides: dict[str, Any] = {
            s: table.filter(pl.col("split") == s)["id"].to_list() for s in ("train", "Test")
        }
        file.write_text(json.dumps(sides))
    assert split(dataset, "lists", lists=file).checked.sides() == {
        "train": 20,
        "dev": 0,
        "test": 10,
    }


def test_lists_that_do_not_fit_say_so(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="brings no split lists"):
        split(make(10), "lists")
    strange = tmp_path / "strange.csv"
    strange.write_text("id,split\nr0001,train\nr0002,holdout\n")
    with pytest.raises(DataError, match="'holdout', which is not a side"):
        split(make(10), "lists", lists=strange)
    alien = tmp_path / "alien.csv"
    alien.write_text("id,split\nx,train\ny,test\n")
    with pytest.raises(Impossible, match="None of the 2 ids"):
        split(make(10), "lists", lists=alien)
    bare = tmp_path / "bare.csv"
    bare.write_text("a,b\n1,2\n")
    with pytest.raises(UnreadableFile, match="has the columns a, b"):
        split(make(10), "lists", lists=bare)
