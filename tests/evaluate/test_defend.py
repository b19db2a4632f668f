"""What a score is made of: planted shares are found, chance finds nothing, and what is not measured
says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.evaluate.defend.front import search
from claimlab.evaluate.defend.result import page
from claimlab.evaluate.scored_run import open_runs
from claimlab.pages.blocks import Table, cell, walk

Make = Callable[..., Dataset]
TEST = 900  # records; as many are for training


@pytest.fixture
def short_is_false(make_data: Make) -> Dataset:
    """Three of four true claims are long, and three of four false ones are short."""
    records = make_data(2 * TEST, per_group=1).records
    rng = np.random.default_rng(3)
    long = (records["veracity"] == "true").to_numpy() ^ (rng.random(records.height) < 0.25)
    filler = " It was seen by people from several towns near the river."
    numbers = rng.permutation(10**6)[: records.height]
    texts = [
        f"Bridge {number} opened.{filler * int(more)}"
        for number, more in zip(numbers, long, strict=True)
    ]
    split = ["test"] * TEST + ["train"] * (records.height - TEST)
    return Dataset.build(
        "short-is-false", records.with_columns(text=pl.Series(texts), split=pl.Series(split))
    )


def asked_of(data: Dataset) -> Dataset:
    return Dataset.build(data.name, data.records.filter(pl.col("split") == "test"))


def test_a_planted_mixture_is_taken_apart(
    short_is_false: Dataset, make_run: Make, tmp_path: Path
) -> None:
    """Half of the answers are the shortcut's, three in ten are the label's, the rest guesses."""
    part, rng = asked_of(short_is_false), np.random.default_rng(5)
    repeats = np.where(part.records["text"].str.len_chars().to_numpy() > 40, "true", "false")
    truth, guesses = part.records["veracity"].to_numpy(), rng.choice(["true", "false"], size=TEST)
    which = rng.choice(3, size=TEST, p=[0.5, 0.3, 0.2])
    mixed = np.stack([repeats, truth, guesses])[which, np.arange(TEST)].tolist()
    run = make_run(part, 1.0, labels=mixed, detector="words")
    defence = cl.defend(run, data=short_is_false, output=tmp_path / "defence", draws=600)
    shares = defence.copied.shares
    assert shares is not None
    assert defence.copied.feature in ("length", "surface", "keywords"), "all of them tell length"
    (_, ends), (_, own_ends) = shares.shortcuts[0], shares.own
    assert ends is not None
    assert own_ends is not None
    assert ends[0] < 0.5 < ends[1]
    assert own_ends[0] < 0.3 < own_ends[1]
    parts = {one.name: one.share for one in defence.copied.segments}
    assert list(parts) == ["guessing", "shortcut", "own signal"], "with two classes, all is fitted"
    assert sum(parts.values()) == pytest.approx(defence.run.scores.accuracy, abs=0.005)
    written = json.loads((tmp_path / "defence" / "defence.json").read_text())
    assert written["row"]["own_signal"] == pytest.approx(shares.own[0])
    assert (tmp_path / "defence" / "paragraph.txt").read_text().strip() == written["paragraph"]
    assert (tmp_path / "defence" / "plots" / "parts.svg").is_file()


def test_copies_of_training_records_are_scored_apart(make_data: Make, make_run: Make) -> None:
    """A run that is right on what it has seen, and guesses on the rest."""
    records = make_data(1200, per_group=1).records
    letters = np.random.default_rng(1).choice(list("abcdefghij "), size=(1000, 60))
    texts = ["".join(row) for row in letters]
    texts = [*texts[:600], *texts[:200], *texts[600:]]
    split = ["test"] * 600 + ["train"] * 600
    data = Dataset.build(
        "copies", records.with_columns(text=pl.Series(texts), split=pl.Series(split))
    )
    run = make_run(asked_of(data), [1.0] * 200 + [0.5] * 400)
    seen = cl.defend(run, data=data, draws=300).seen
    assert (seen.seen, seen.new) == (200, 400)
    assert seen.difference is not None
    assert seen.difference.interval is not None
    assert 0.4 < seen.difference.interval[0] < 0.5 < seen.difference.interval[1] < 0.6


def test_a_weak_subgroup_is_found_and_none_by_chance(make_data: Make, make_run: Make) -> None:
    data = make_data(1500)
    records = data.records
    weak = ((records["language"] == "swa") & (records["source"] == "source 1")).to_numpy()
    (run,) = open_runs(make_run(data, np.where(weak, 0.4, 0.9).tolist()))
    found = [set(one.name.split(" and ")) for one in search(run).found]
    assert {"language swa", "source source 1"} in found
    by_chance = 0
    for seed in range(20):
        (even,) = open_runs(make_run(data, 0.8, seed=seed))
        by_chance += bool(search(even, seed=seed).found)
    assert by_chance <= 4, "5 in 100 test sets may show one by chance"


def test_what_is_not_measured_says_so(data: Dataset, make_run: Make) -> None:
    """Without training records nothing is said of shortcuts and copies."""
    defence = cl.defend(make_run(data, 0.8), draws=200)
    assert defence.copied.shares is None
    assert "Shortcut: not measured" in " ".join(defence.sentences())
    assert "Seen before: not measured" in " ".join(defence.sentences())
    tables = [block for block in walk(page(defence).blocks) if isinstance(block, Table)]
    cells = [cell(value) for table in tables for row in table.rows for value in row]
    unmeasured = [one.tone for one in cells if "not measured" in one.text]
    assert len(unmeasured) >= 4
    assert set(unmeasured) == {"not-measured"}
    row = defence.table.row(0, named=True)
    assert [row[name] for name in ("repeats_shortcut", "own_signal", "seen", "ceiling")] == [
        None
    ] * 4


def test_a_shortcut_that_is_always_right_is_no_measurement(
    short_is_false: Dataset, make_run: Make
) -> None:
    copied = cl.defend(
        make_run(asked_of(short_is_false), 0.8), data=short_is_false, shortcut="veracity", draws=200
    ).copied
    assert copied.shares is None
    assert "right on every test record" in (copied.why or "")


def test_another_dataset_is_refused_in_a_sentence(data: Dataset, make_run: Make) -> None:
    run = make_run(data, 0.8)
    renamed = Dataset.build("other", data.records.with_columns(id=pl.lit("x") + pl.col("id")))
    with pytest.raises(DataError, match="none of the records of the run"):
        cl.defend(run, data=renamed)
    with pytest.raises(DataError, match="no labelled training records"):
        cl.defend(run, data=data)
