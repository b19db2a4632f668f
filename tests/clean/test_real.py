"""Real data: published counts are reached where they can be, and a second cleaning changes nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.clean.run import Inputs, clean
from claimlab.clean.tables import read_table
from claimlab.text.neardup import find_clusters

pytestmark = pytest.mark.realdata


@pytest.mark.slow
def test_covid19_br_under_the_published_recipe(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    monkeypatch.setenv("CLAIMLAB_CL100K", str(real_data / "cl100k_base.tiktoken"))
    data = load("covid19-br", real_data / "covid19-br.zip")
    people = Inputs(decisions=read_table(real_data / "covid19-br-decisions.csv"))
    cleaned = clean(data, "pt-afc", inputs=people)
    dropped = cleaned.dataset.tables["dropped"]["step"].value_counts()
    counts = dict(dropped.iter_rows())
    assert counts["only-url"] == 501
    assert abs(counts["too-short"] - 302) <= 2
    (torn,) = cleaned.stages.filter(pl.col("step") == "url-conflicts")["note"].to_list()
    assert torn == "22 URLs stand under several labels, in 60 records"
    assert abs(cleaned.dataset.records.height - 1987) <= 2
    assert abs(cleaned.dataset.tables["near_duplicates"].height - 271) <= 3
    assert (find_clusters(cleaned.dataset.records["text"]).labels >= 0).sum() >= 328
    again = clean(cleaned.dataset, "pt-afc", inputs=people)
    assert again.dataset.records.equals(cleaned.dataset.records)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["covid19-br", "covid19-fake-news", "factck-br"])
def test_a_second_cleaning_of_a_real_set_changes_nothing(real_data: Path, name: str) -> None:
    data = load(name, real_data / f"{name}.zip")
    once = clean(data)
    twice = clean(once.dataset)
    assert twice.dataset.records.equals(once.dataset.records)
    assert (twice.total("dropped"), twice.total("doubtful"), twice.total("changed")) == (0, 0, 0)
    gone = pl.concat([once.dataset.tables[t]["id"] for t in ("dropped", "doubtful") if t in once.dataset.tables])
    assert sorted([*once.dataset.records["id"], *gone]) == sorted(data.records["id"])
