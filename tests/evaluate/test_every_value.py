"""One score over all publishers, each tested by a model that saw none of it (`split --all`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.evaluate.every_value import pooled

HINTS = {"true": "report", "false": "shock"}


def of_publishers(publishers: int, size: int, *, hints: float = 0.0, seed: int = 0) -> Dataset:
    """Publishers of one class each, every one with words of its own; a share `hints` of the records
    has a word that tells the label."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(publishers) % 2)
    words = [f"word{i}" for i in range(40)]
    rows = []
    for number in range(publishers):
        own, name = rng.choice(words, 4), ("true", "false")[label[number]]
        for i in range(size):
            text = [*rng.choice(words, 8), *rng.choice(own, 3), f"n{number}x{i}"]
            text += [HINTS[name]] if rng.random() < hints else []
            rows.append(
                {
                    "id": f"r{number}-{i}",
                    "text": " ".join(text),
                    "veracity": name,
                    "source": f"publisher {number}",
                }
            )
    return Dataset.build("publishers", pl.DataFrame(rows))


def splits(data: Dataset) -> list[Dataset]:
    made = cl.split(data, by="source", every=True)
    assert not made.impossible
    return [split.dataset for split in made.all]


def test_each_fold_leaves_out_a_publisher_of_each_class() -> None:
    made = splits(of_publishers(13, 6))
    assert len(made) == 6
    tested: list[str] = []
    for split in made:
        records = split.records
        for side in ("train", "test"):
            assert records.filter(split=side)["veracity"].n_unique() == 2
        held = records.filter(split="test")
        assert not set(held["source"]) & set(records.filter(split="train")["source"])
        tested += held["id"].to_list()
    assert sorted(tested) == sorted(made[0].records["id"])  # every record once


def test_a_publisher_of_both_classes_is_left_out_alone() -> None:
    data = of_publishers(8, 6)
    of_class = data.records.unique("source", maintain_order=True)
    torn = [of_class.filter(veracity=name)["source"][i] for name in HINTS for i in (0, 1)]
    both = pl.col("source").is_in(torn)
    flipped = pl.when(both & pl.col("id").str.ends_with("-0")).then(
        pl.when(veracity="true").then(pl.lit("false")).otherwise(pl.lit("true"))
    )
    rows = data.records.with_columns(veracity=flipped.otherwise("veracity"))
    sizes = sorted(
        split.records.filter(split="test")["source"].n_unique()
        for split in splits(Dataset.build("some", rows))
    )
    assert sizes == [1, 1, 1, 1, 2, 2]


def test_where_one_publisher_has_all_of_a_class_each_is_left_out_alone() -> None:
    data = of_publishers(6, 5)
    rows = data.records.with_columns(
        veracity=pl.when(source="publisher 0").then(pl.lit("false")).otherwise(pl.lit("true"))
    )
    made = cl.split(Dataset.build("one", rows), by="source", every=True)
    assert len(made.all) == 5
    assert [failed.value for failed in made.impossible] == ["publisher 0"]


@pytest.mark.slow
def test_shuffled_labels_go_through_the_training(tmp_path: Path) -> None:
    data = of_publishers(12, 6, hints=0.9)
    run = pooled(splits(data), "tfidf", shuffles=12)
    assert run.table.height == 72
    assert run.units.words == "72 records of 12 publishers (largest 8%)"
    assert run.null is not None
    assert len(run.null) == 12
    # models learn the shuffled labels, and are tested by them: the scores are those of chance
    assert abs(float(run.null.mean()) - 0.5) < 0.2
    evaluation = cl.evaluate(run)
    chance = evaluation.runs[0].chance
    assert chance.permuted == pytest.approx(float(run.null.mean()))
    assert chance.p is not None
    assert chance.p < 0.02
    assert evaluation.runs[0].scores.macro_f1 > 0.8


def test_p_counts_the_shuffles_that_reach_the_score() -> None:
    """Of four shuffles, two come as high: p is (1 + 2) / (1 + 4)."""
    run = pooled(splits(of_publishers(12, 6, hints=0.9)), "tfidf", shuffles=1)
    object.__setattr__(run, "null", np.array([1.0, 1.0, 0.4, 0.5]))
    assert cl.evaluate(run).runs[0].chance.p == pytest.approx(0.6)


def test_wrong_folders_are_refused(tmp_path: Path) -> None:
    data = of_publishers(6, 5)
    cl.split(data, by="source", every=True, output=tmp_path / "folds")
    with pytest.raises(UsageError, match="folder of splits"):
        cl.evaluate(tmp_path / "folds")
    single = cl.split(data, by="random").dataset
    with pytest.raises(DataError, match="do not hold out"):
        pooled([single, single], "tfidf")
    twice = splits(data)[0]
    with pytest.raises(DataError, match="test of two splits"):
        pooled([twice, twice], "tfidf")


@pytest.mark.slow
def test_the_command_scores_all_folds(tmp_path: Path) -> None:
    of_publishers(12, 4, hints=0.9).write(tmp_path / "data")
    cl.split(tmp_path / "data", by="source", every=True, output=tmp_path / "folds")
    evaluation = cl.evaluate(tmp_path / "folds", detector="tfidf")
    assert [run.name for run in evaluation.runs] == ["tfidf"]
    assert evaluation.runs[0].chance.permuted is not None
