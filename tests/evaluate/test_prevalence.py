"""Precision, alarms and misses at another share of the classes, against drawing such records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.evaluate.views import headline

Maker = Callable[..., Dataset]


def test_they_are_what_records_of_that_share_give(make_data: Maker, make_run: Maker) -> None:
    data = make_data(600, per_group=1)
    result = cl.evaluate(make_run(data, 0.84), prevalence=0.03, by=[], draws=500)
    (run,) = result.runs
    found = run.in_use
    assert found is not None
    truth = data.records["veracity"].to_numpy() == "false"
    table = make_run(data, 0.84).tables["predictions"]
    said = table["label"].to_numpy() == "false"
    rng = np.random.default_rng(0)
    rows = np.where(
        rng.random(400_000) < 0.03,
        rng.choice(np.flatnonzero(truth), 400_000),
        rng.choice(np.flatnonzero(~truth), 400_000),
    )
    flagged, false = said[rows], truth[rows]
    assert found.precision == pytest.approx(false[flagged].mean(), abs=0.01)
    assert found.alarms == pytest.approx(1_000 * flagged.mean(), abs=2)
    assert found.misses == pytest.approx(1_000 * (false & ~flagged).mean(), abs=0.5)
    assert found.precision < 0.25, "84 where half are false is not 84 where 3% are"
    for value, ends in (
        (found.precision, found.precision_interval),
        (found.alarms, found.alarms_interval),
        (found.misses, found.misses_interval),
    ):
        assert ends is not None
        assert ends[0] < value < ends[1]
    assert "Where 3% are false: of 1,000 records" in found.sentence()


def test_a_gap_is_a_miss_or_a_false_alarm(make_data: Maker, make_run: Maker) -> None:
    data = make_data(300)
    truth = data.records["veracity"].to_list()
    labels = [None if i % 3 == 0 else t for i, t in enumerate(truth)]
    other = {"true": "false", "false": "true"}
    wrong = [other[t] if i % 3 == 0 else t for i, t in enumerate(truth)]
    gaps, all_answered = (
        cl.evaluate(make_run(data, 1, labels=said), prevalence=0.1, by=[], draws=200).runs[0].in_use
        for said in (labels, wrong)
    )
    assert gaps == all_answered


def test_a_share_is_between_nothing_and_all(make_data: Maker, make_run: Maker) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        cl.evaluate(make_run(make_data(300), 0.8), prevalence=3, by=[], draws=200)


def test_cost_and_seconds_of_a_thousand_records_are_beside_the_score(
    data: Dataset, make_run: Maker, tmp_path: Path
) -> None:
    run = make_run(data, 0.8)
    paid = run.tables["predictions"].with_columns(cost=pl.lit(0.0002), seconds=pl.lit(0.05))
    run.tables["predictions"] = paid
    (result,) = cl.evaluate(run, draws=200, by=[], output=tmp_path / "page").runs
    assert result.per_thousand == pytest.approx({"cost": 0.2, "seconds": 50.0})
    said = "1,000 records take $0.20 and 50.0 s"
    assert said in headline(result)
    assert said in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    scores = pl.read_csv(tmp_path / "page" / "scores.csv")
    assert scores["cost_per_1000"][0] == pytest.approx(0.2)
    (free,) = cl.evaluate(make_run(data, 0.8), draws=200, by=[]).runs
    assert "1,000 records" not in headline(free)
