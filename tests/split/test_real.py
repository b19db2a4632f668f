"""Real datasets: events of Twitter15, pairs of Fake.br, languages of NLP4IF."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.split.run import split

pytestmark = pytest.mark.realdata


def test_twitter15_events_at_random_and_held_out(real_data: Path) -> None:
    dataset = load("twitter15", real_data / "twitter15.zip")
    naive, fair = split(dataset, "random"), split(dataset, "event")
    assert naive.checked.sides()["test"] == 298
    assert (naive.checked.leaks[0].group or 0) > 250, (
        "nearly every test tweet is of an event that was trained on"
    )
    assert naive.checked.leaks[0].texts > 10
    assert fair.checked.leaks[0].group == 0
    held = set(fair.parts.held_out)
    trained = fair.dataset.records.filter(pl.col("split").is_in(["train", "dev"]))["group"]
    assert not held & set(trained.to_list())


def test_twitter15_by_time_has_no_false_rumour_left_to_test_on(real_data: Path) -> None:
    done = split(load("twitter15", real_data / "twitter15.zip"), "time")
    assert "The class 'false' is missing from test." in done.notes()


@pytest.mark.slow
def test_fake_br_pairs_as_published(real_data: Path) -> None:
    done = split(load("fake-br", real_data / "fake-br.zip"), "pair", shares="80/10/10")
    cells = done.checked.cells.group_by("split", "label").agg(pl.col("records").sum())
    assert {(s, c): n for s, c, n in cells.iter_rows()} == {
        (side, label): n
        for side, n in (("train", 2880), ("dev", 360), ("test", 360))
        for label in ("true", "false")
    }
    assert (
        done.dataset.records.group_by("group").agg(pl.col("split").n_unique())["split"].max() == 1
    )


def test_nlp4if_languages_scripts_and_families(real_data: Path) -> None:
    dataset = load("nlp4if-2021", real_data / "nlp4if-2021.zip")
    made = split(dataset, "script", task="label_raw", every=True).all
    tested = {
        one.name: set(one.dataset.records.filter(pl.col("split") == "test")["language"].to_list())
        for one in made
    }
    assert tested == {
        "script:leave-out=Arab": {"ara"}, "script:leave-out=Cyrl": {"bul"}, "script:leave-out=Latn": {"eng"},
    }  # fmt: skip
    semitic = split(dataset, "family", task="label_raw", train_on=("Afro-Asiatic",))
    assert (
        semitic.checked.sides()["test"]
        == dataset.records.filter(pl.col("language") != "ara").height
    )
