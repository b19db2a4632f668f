"""What a detector learned is written as values, names no class, and comes back the same or not at
all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from parts.planted import planted

from claimlab.core.errors import DataError
from claimlab.detect.detector import DETECTORS, Detector, Part, Prediction
from claimlab.detect.learned import FILE, Learned, read_learned, write_learned
from claimlab.detect.tree import ArrayTree


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    x = np.asfortranarray(np.random.default_rng(0).random((4, 3)).astype(np.float32))
    table = pl.DataFrame({"a": [1, 2]})
    values = {
        "word": "é",
        "number": 0.1,
        "whole": 3,
        "words": ["b", "a"],
        "x": x,
        "t": table,
        "in": {"word": "w"},
    }
    write_learned(values, tmp_path)
    back = read_learned(tmp_path)
    assert (back.word("word"), back.number("number"), back.whole("whole")) == ("é", 0.1, 3)
    assert back.words("words") == ["b", "a"]
    np.testing.assert_array_equal(back.array("x", np.float32, [None, 3]), x)
    assert back.array(
        "x", np.floating, [4, 3]
    ).flags.f_contiguous  # sums come out the same to the last bit
    assert back.table("t", {"a": pl.Int64()}).equals(table)
    assert back.part("in").word("word") == "w"


@pytest.mark.parametrize(
    "value",
    [
        lambda: 0,
        Path("x"),
        object(),
        np.array([{}], dtype=object),
        dict,
        (1, 2),
        {"a"},
        {"$array": 1},
        {1: 2},
    ],
)
def test_what_is_more_than_values_is_not_written(value: Any, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError)):
        write_learned({"value": value}, tmp_path)


WRONG: dict[str, Any] = {
    "a list": lambda v: v.word("list"),
    "a list of numbers": lambda v: v.words("list"),
    "nothing": lambda v: v.number("missing"),
    "nan": lambda v: v.number("nan"),
    "true": lambda v: v.whole("true"),
    "other numbers": lambda v: v.array("array", np.int64, [2]),
    "another shape": lambda v: v.array("array", np.float64, [3]),
    "more dimensions": lambda v: v.array("array", np.float64, [2, None]),
    "a word for an array": lambda v: v.array("word", np.float64, [2]),
    "other columns": lambda v: v.table("table", {"b": pl.Int64()}),
    "null cells": lambda v: v.table("table", {"a": pl.Int64()}),
    "a word for a part": lambda v: v.part("word"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_value_of_another_kind_is_an_error(wrong: str) -> None:
    values = {
        "list": [1, 2], "nan": float("nan"), "true": True, "array": np.array([1.0, 2.0]), "word": "w",
        "table": pl.DataFrame({"a": [1, None]}),
    }  # fmt: skip
    with pytest.raises(DataError, match="What a detector learned cannot be read"):
        WRONG[wrong](Learned(values))


@pytest.mark.parametrize(
    "text", ["", "[]", "5", '{"a": {"$array": "../x"}}', '{"a": {"$array": 7}}', "[" * 100_000]
)
def test_a_file_that_is_something_else_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(DataError, match="What a detector learned cannot be read"):
        read_learned(tmp_path)


class Closed(Detector):
    name: ClassVar[str] = "closed"
    summary: ClassVar[str] = "Does not say what it learned."

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.answer = train.labels[0]

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return [Prediction(self.answer)] * records.height


def test_a_detector_that_does_not_say_what_it_learned_is_not_shared(tmp_path: Path) -> None:
    detector = Closed()
    detector.fit(
        Part(pl.DataFrame({"text": ["a"]}), ["true"]),
        Part(pl.DataFrame(), []),
        seed=0,
    )
    assert not detector.keep(tmp_path)


SETTINGS: dict[str, list[dict[str, Any]]] = {
    "tfidf": [{}, {"characters": False, "model": "logistic"}],
    "shortcut": [{}, {"feature": "source"}, {"feature": "date"}],
}
SHARED = sorted(name for name, kind in DETECTORS.all().items() if not kind.handles)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param(name, settings, marks=[pytest.mark.slow] if DETECTORS.get(name).extra else [])
        for name in SHARED
        for settings in SETTINGS.get(name, [{}])
    ],
)
def test_every_detector_predicts_the_same_with_what_it_kept(
    name: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    kind = DETECTORS.get(name)
    records = planted(size=160)[0].records.filter(pl.col("veracity").is_in(["true", "false"]))
    sources = pl.Series(
        "source", [None if n % 5 == 0 else f"s{n % 3}" for n in range(records.height)], pl.String
    )
    records = records.with_columns(sources)
    first = kind(**{**kind.trial, **settings})
    empty = Part(records.head(0), [])
    first.fit(Part(records, records["veracity"].to_list()), empty, seed=3)
    if not first.keep(tmp_path):
        pytest.skip("it runs on a GPU here, which processes do not share")
    assert "claimlab" not in (tmp_path / FILE).read_text()
    assert "sklearn" not in (tmp_path / FILE).read_text()
    second = kind(**json.loads(json.dumps(first.parameters())))
    second.take_up(tmp_path)
    assert second.predict(records) == first.predict(records)
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(DataError):
        kind(**first.parameters()).recall(read_learned(tmp_path))


def of_scikit_learn(model: Any) -> ArrayTree:
    tree = model.tree_
    return ArrayTree(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        tree.missing_go_to_left.astype(np.bool_),
        tree.value[:, 0, :],
    )


def test_a_tree_answers_as_that_of_scikit_learn() -> None:
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(1)
    for missing in (0.0, 0.2):
        x = rng.normal(size=(500, 3)).astype(np.float32)
        x[rng.random(x.shape) < missing] = np.nan
        y = (np.nan_to_num(x[:, 0]) + rng.normal(size=500) > 0).astype(int) + (x[:, 1] > 1)
        model = DecisionTreeClassifier(
            max_leaf_nodes=20, class_weight="balanced", random_state=0
        ).fit(x, y)
        new = rng.normal(size=(800, 3)).astype(np.float32)
        new[rng.random(new.shape) < 0.1] = np.nan
        np.testing.assert_array_equal(of_scikit_learn(model).predict(new), model.predict_proba(new))


def test_a_tree_that_leaves_its_arrays_or_runs_in_circles_is_refused() -> None:
    good = ArrayTree(
        np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([0, -2, -2]), np.zeros(3), np.zeros(3, bool),
        np.full((3, 2), 0.5),
    ).learned()  # fmt: skip
    ArrayTree.recalled(Learned(good), 2, 1)
    bad = {"left": [0, -1, -1], "right": [3, -1, -1], "feature": [1, -2, -2]}
    for name, values in bad.items():
        with pytest.raises(DataError):
            ArrayTree.recalled(Learned({**good, name: np.array(values)}), 2, 1)
    with pytest.raises(DataError):
        ArrayTree.recalled(Learned({**good, "shares": np.zeros((2, 2))}), 2, 1)
