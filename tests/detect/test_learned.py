"""What a detector learned is written value by value, without pickle, and comes back the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.learned import FILE, read_learned, write_learned
from claimlab.detect.linear import Linear


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((40, 3)).astype(np.float32)
    y = ["false" if row[0] > 0.5 else "true" for row in x]
    linear = Linear("logistic", 1.0)
    linear.fit(x, y, seed=0)
    values = {
        "plain": [1, 0.1, "é", None, True, float("inf")], "pair": (1, ("a",)), "words": {"b", "a"},
        "by_value": {None: np.float64(0.1), 3: [], "x": {"y": 1}}, "array": x, "strings": np.array(["a", "bc"]),
        "table": pl.DataFrame({"a": [1, None]}), "column": pl.Series("c", ["x"]), "linear": linear,
    }  # fmt: skip
    assert write_learned(values, tmp_path, "elsewhere")
    back = read_learned(tmp_path, "elsewhere")
    for name in ("plain", "pair", "words", "by_value"):
        assert back[name] == values[name]
    np.testing.assert_array_equal(back["array"], x)
    assert back["array"].dtype == x.dtype
    assert back["strings"].tolist() == ["a", "bc"]
    assert back["table"].equals(values["table"])
    assert back["column"].equals(values["column"])
    assert back["linear"].predict(x) == linear.predict(x)


def test_compiled_models_of_scikit_learn_come_back(tmp_path: Path) -> None:
    from sklearn.ensemble import RandomForestClassifier

    x = np.random.default_rng(1).random((60, 4))
    forest = RandomForestClassifier(5, random_state=0).fit(x, x[:, 0] > 0.5)
    assert write_learned({"forest": forest}, tmp_path, "claimlab")
    back = read_learned(tmp_path, "claimlab")["forest"]
    np.testing.assert_array_equal(back.predict_proba(x), forest.predict_proba(x))


@pytest.mark.parametrize("value", [lambda: 0, Path("x"), object(), np.array([{}], dtype=object), dict, [open]])
def test_what_is_more_than_values_is_not_written(value: Any, tmp_path: Path) -> None:
    assert not write_learned({"value": value}, tmp_path, "claimlab")


@pytest.mark.parametrize("name", ["subprocess:Popen", "os:system", "pathlib:Path"])
def test_nothing_is_made_of_other_packages(name: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps([name, ["dict", []], ["tuple", []]]))
    with pytest.raises(TypeError, match="no trusted package"):
        read_learned(tmp_path, "claimlab")


class Closed(Detector):
    name: ClassVar[str] = "closed"
    summary: ClassVar[str] = "Learns a function, which no file can hold."

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.answer = lambda: train.labels[0]

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return [Prediction(self.answer())] * records.height


def test_a_detector_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    detector = Closed()
    detector.fit(Part(pl.DataFrame({"text": ["a"]}), ["true"]), Part(pl.DataFrame(), []), seed=0)
    assert not detector.keep(tmp_path)
