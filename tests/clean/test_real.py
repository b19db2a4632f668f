"""Real data: a second cleaning changes nothing, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.clean.front import clean
from claimlab.clean.recipe import parse_recipe

pytestmark = pytest.mark.realdata


def test_entities_that_a_loader_keeps_are_replaced_and_nothing_else_changes(
    real_data: Path,
) -> None:
    data = load("factck-br", real_data / "factck-br.zip")
    assert data.records["text"].str.contains("&#39;").sum() == 8, "as published"
    repaired = clean(data, parse_recipe('[[steps]]\nstep = "repair-text"', "repair"))
    records = repaired.dataset.records
    assert not records["text"].str.contains("&#?[0-9A-Za-z]+;").any()
    assert records.drop("text").equals(data.records.drop("text"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["covid19-br", "covid19-fake-news", "factck-br"])
def test_a_second_cleaning_of_a_real_set_changes_nothing(real_data: Path, name: str) -> None:
    data = load(name, real_data / f"{name}.zip")
    once = clean(data)
    twice = clean(once.dataset)
    assert twice.dataset.records.equals(once.dataset.records)
    assert (twice.total("dropped"), twice.total("doubtful"), twice.total("changed")) == (0, 0, 0)
    gone = pl.concat(
        [once.dataset.tables[t]["id"] for t in ("dropped", "doubtful") if t in once.dataset.tables]
    )
    assert sorted([*once.dataset.records["id"], *gone]) == sorted(data.records["id"])
