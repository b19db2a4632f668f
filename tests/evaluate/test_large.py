"""What makes large runs quick must not change a figure: each shortcut against the long way."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, rankdata, t

from claimlab.core.dataset import Dataset
from claimlab.core.stats.interval import _numbered, tail
from claimlab.detect.strict.scores import _digits, _remainders
from claimlab.evaluate.answers import answers
from claimlab.evaluate.compare import compare
from claimlab.evaluate.metrics.table_scores import areas, ranking
from claimlab.evaluate.scored_run import open_runs
from claimlab.evaluate.slices import slice_run

Maker = Callable[..., Dataset]
ODD = [
    '{"false": 1e-07, "true": 1}', None, '{"false": -0.25, "true": 1.5E+2}', '{"true": 0.5, "false": 0.5}',
    '{"false":0.1,"true":0.9}', '{"false": 0.3}', "{}", '{"false": 0.2, "true": 0.8, "other": 0.0}',
    '{"false": 0.25, "true": null}',
]  # fmt: skip


@pytest.mark.parametrize("odd", [[], *([row] for row in ODD), ODD])
def test_scores_read_by_column_are_those_read_row_by_row(odd: list[str | None]) -> None:
    rng = np.random.default_rng(0)
    values = [*rng.random(40).tolist(), *(10.0 ** rng.uniform(-300, 5, 20)).tolist()]
    rows = [*(json.dumps({"false": v, "true": 1 - v}) for v in values), *odd]
    truth = rng.choice(["true", "false"], len(rows)).tolist()
    by_column, by_row = (
        answers(truth, truth, scores=s) for s in (pl.Series(rows, dtype=pl.String), rows)
    )
    assert by_column.scored == by_row.scored
    assert by_column.scores is not None
    assert by_row.scores is not None
    np.testing.assert_array_equal(by_column.scores, by_row.scores)


def test_the_remainder_of_a_share_is_rounded_as_python_rounds() -> None:
    rng = np.random.default_rng(1)
    shares = np.concatenate(
        [rng.random(20_000), rng.random(20_000).round(13), rng.random(1_000).round(3), [0, 1, 0.5]]
    )
    assert _remainders(pl.Series(shares)).to_list() == [round(1 - v, 12) for v in shares.tolist()]


def test_numbers_are_written_as_python_writes_them() -> None:
    rng = np.random.default_rng(3)
    sizes = np.concatenate(
        [10.0 ** rng.uniform(-20, 20, 5_000), rng.random(5_000).round(3), [0, 1, 1e-4, 1e15, 1e16]]
    )
    numbers = np.concatenate([sizes, -sizes]).tolist()
    assert _digits(pl.Series([*numbers, None])).to_list() == [*map(repr, numbers), None]


def test_ranks_tails_and_codes_are_scipys() -> None:
    rng = np.random.default_rng(2)
    truth, score = rng.random(500) < 0.4, rng.random(500).round(2)
    up, down = int(truth.sum()), int((~truth).sum())
    assert areas(ranking(truth, score)) == float(
        (rankdata(score)[truth].sum() - up * (up + 1) / 2) / (up * down)
    )
    for groups in (2, 3, 20, 95_000):
        assert tail(groups) == pytest.approx(
            norm.cdf(np.sqrt(groups / (groups - 1)) * t.ppf(0.025, groups - 1))
        )
    for codes in (
        rng.integers(0, 900, 500),
        rng.integers(-5, 5, 50),
        rng.integers(0, 10**12, 50),
        np.empty(0, np.int64),
    ):
        np.testing.assert_array_equal(_numbered(codes), np.unique(codes, return_inverse=True)[1])


def test_runs_on_the_same_records_are_compared_as_in_any_order(
    data: Dataset, make_run: Maker
) -> None:
    first, second = (
        open_runs(make_run(data, skill, seed=i), name=f"run {i}")[0]
        for i, skill in enumerate((0.8, 0.7))
    )
    shuffled = replace(second, table=second.table.sample(fraction=1, shuffle=True, seed=5))
    assert first.table["id"].equals(second.table["id"])
    assert not first.table["id"].equals(shuffled.table["id"])
    assert compare(first, second) == compare(first, shuffled)


def test_subgroups_that_divide_alike_share_their_draws(data: Dataset, make_run: Maker) -> None:
    renamed = data.records.with_columns(topic=pl.col("source"))
    run = open_runs(make_run(Dataset.build("made-up", renamed), 0.8))[0]
    by_source, by_topic = slice_run(run, "source"), slice_run(run, "topic")
    assert len(run.redrawn) == 1
    assert len(by_source.cells) == 3
    assert replace(by_topic, by="source") == by_source
    assert slice_run(replace(run, name="apart"), "topic") == by_topic
    assert slice_run(run, "topic", seed=1) != by_topic
