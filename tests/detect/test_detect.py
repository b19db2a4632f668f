from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts.planted import clean_twin, planted

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.detect.detector import DETECTORS, Prediction
from claimlab.detect.run import detect, suspicious
from claimlab.detect.tables import scores_of
from claimlab.tasks import open_task
from claimlab.tasks.table import VERACITY

# Those that need an extra are tried too, with the settings they name for it, where the extras are:
# make test-all.
WALK = [
    pytest.param(name, marks=[pytest.mark.slow] if DETECTORS.get(name).extra else [])
    for name in DETECTORS.names()
    if not DETECTORS.get(name).handles
]


@pytest.mark.parametrize("name", WALK)
def test_every_detector_keeps_the_contract(name: str, tmp_path: Path) -> None:
    data, kind = clean_twin(size=200), DETECTORS.get(name)
    ready = [kind(**kind.trial) for _ in range(2)]
    runs = [detect(data, one, seed=3) for one in ready]
    table = runs[0].tables["predictions"]
    assert table.equals(runs[1].tables["predictions"]), "the same seed gives the same predictions"
    test = data.records.filter(pl.col("split") == "test")
    assert table["record_id"].to_list() == test["id"].to_list()
    assert set(table["label"].to_list()) <= {"true", "false"}
    for scores in table["scores"].to_list():
        assert sum(json.loads(scores).values()) == pytest.approx(1, abs=1e-5)
    runs[0].write(tmp_path / "run")
    assert Dataset.open(tmp_path / "run").lineage[-1].parameters["detector"] == name
    (tmp_path / "kept").mkdir()
    assert ready[0].keep(tmp_path / "kept"), "other processes can predict with what it learned"
    other = kind(**json.loads(json.dumps(ready[0].parameters())))  # as a worker makes it
    other.take_up(tmp_path / "kept")
    assert other.predict(test) == ready[1].predict(test)
    assert other.parameters() == ready[1].parameters()


def test_labels_of_test_rows_are_never_seen() -> None:
    data, _ = planted(size=300)
    shown = detect(data, DETECTORS.get("tfidf")(), seed=0)
    lots = np.random.default_rng(0).permutation(data.records["veracity"].to_numpy())
    mixed = (
        pl.when(pl.col("split") == "test")
        .then(pl.Series(lots))
        .otherwise(pl.col("veracity"))
        .alias("veracity")
    )
    hidden = detect(
        Dataset.build("x", data.records.with_columns(mixed)), DETECTORS.get("tfidf")(), seed=0
    )
    assert shown.tables["predictions"]["label"].equals(hidden.tables["predictions"]["label"])


def test_tfidf_finds_planted_words_and_nothing_in_lots() -> None:
    found = scores_of(detect(planted()[0], DETECTORS.get("tfidf")(), seed=0), VERACITY)
    assert found["macro_f1"] > 0.9
    chance = scores_of(detect(clean_twin(), DETECTORS.get("tfidf")(), seed=0), VERACITY)
    assert 0.35 < chance["macro_f1"] < 0.65


def test_what_cannot_be_trained_is_a_sentence() -> None:
    data = clean_twin(size=60)
    unsplit = Dataset.build("x", data.records.with_columns(pl.lit(None, pl.String).alias("split")))
    with pytest.raises(DataError, match="The dataset has no split"):
        detect(unsplit, DETECTORS.get("majority")())
    one = Dataset.build("x", data.records.with_columns(pl.lit("true").alias("veracity")))
    with pytest.raises(DataError, match="one class only"):
        detect(one, DETECTORS.get("majority")())
    silent = Dataset.build("x", data.records.with_columns(pl.lit(None, pl.String).alias("text")))
    with pytest.raises(DataError, match="have no text"):
        detect(silent, DETECTORS.get("tfidf")())
    with pytest.raises(DataError, match="no task and no column 'mood'"):
        detect(data, DETECTORS.get("majority")(), task=open_task("mood", data.records))


def test_constant_clamped_and_failed_predictions_are_flagged() -> None:
    constant = [Prediction("true", {"true": 0.5, "false": 0.5})] * 3
    assert "same scores" in suspicious(constant)[0]
    clamped = [
        Prediction("true", {"true": 1.0, "false": 0.0}),
        Prediction("false", {"true": 0.0, "false": 1.0}),
    ] * 5
    assert "clamped" in suspicious(clamped)[0]
    failed = [
        Prediction(None, failure="timeout"),
        Prediction("true", {"true": 0.7}),
        Prediction("true", {"true": 0.6}),
    ]
    assert suspicious(failed) == ["1 of 3 predictions failed and is null (timeout 1)."]


def test_a_failed_prediction_counts_as_wrong() -> None:
    records = pl.DataFrame({"id": ["a", "b"], "text": ["x", "y"], "veracity": ["true", "false"]})
    table = pl.DataFrame({"record_id": ["a", "b"], "label": ["true", None]})
    scores = scores_of(Dataset.build("x", records, {"predictions": table}), VERACITY)
    assert (scores["accuracy"], scores["failed"], scores["n"]) == (0.5, 1, 2)
