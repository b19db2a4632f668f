from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnknownName
from claimlab.core.languages import describe
from claimlab.evaluate.evaluation import evaluate_run, telling
from claimlab.evaluate.scored_run import ScoredRun, each_run
from claimlab.evaluate.slices import head_tail_gap, slice_run
from claimlab.evaluate.sufficiency import LEAST_RECORDS
from claimlab.tasks import TASKS

Maker = Callable[..., Dataset]


def scored(run: Dataset, task: str = "veracity") -> ScoredRun:
    (one,) = each_run("run", run.tables["predictions"], run, TASKS.get(task))
    return one


def test_every_cell_is_the_score_of_its_records(data: Dataset, make_run: Maker) -> None:
    run = scored(make_run(data, 0.8))
    found = slice_run(run, "language")
    assert sum(c.n for c in found.cells) == 600
    for cell in found.cells:
        mine = run.table.filter(pl.col("language") == cell.value)
        truth, said = mine["truth"].to_list(), mine["said"].to_list()
        assert cell.macro_f1 == pytest.approx(f1_score(truth, said, average="macro"), abs=1e-9)
        assert cell.classes == {c: truth.count(c) for c in ("true", "false")}
        assert cell.groups == mine["group"].n_unique()
        low, high = cell.macro_f1_interval or (1.0, 0.0)
        assert low < cell.macro_f1 < high
    assert found.mean is not None
    assert found.mean.value == pytest.approx(np.mean([c.macro_f1 for c in found.cells]))


def test_a_language_that_is_worse_is_seen(data: Dataset, make_run: Maker) -> None:
    skill = [
        0.55 if code in ("swa", "afr") else 0.95 for code in data.records["language"].to_list()
    ]
    run = scored(make_run(data, skill))
    cells = {c.value: c for c in slice_run(run, "language").cells}
    assert (cells["afr"].macro_f1_interval or (0, 1))[1] < (
        cells["eng"].macro_f1_interval or (1, 0)
    )[0]
    tail = {code for code in cells if (told := describe(code)) and told.resource == "tail"}
    assert tail == {"swa", "afr"}
    gap = head_tail_gap(run)
    assert gap is not None
    assert gap.mean_of_languages is not None
    for estimate in (gap.pooled, gap.mean_of_languages):
        assert estimate.interval is not None
        assert 0.25 < estimate.interval[0] < estimate.value < estimate.interval[1] < 0.55


def test_no_gap_is_claimed_where_there_is_none(data: Dataset, make_run: Maker) -> None:
    gap = head_tail_gap(scored(make_run(data, 0.8, seed=3)))
    assert gap is not None
    assert gap.pooled.interval is not None
    assert gap.pooled.interval[0] < 0 < gap.pooled.interval[1]
    english = data.records.filter(pl.col("language") == "eng")
    assert head_tail_gap(scored(make_run(Dataset.build("one", english), 0.8))) is None


def test_small_cells_are_suppressed_and_counted(data: Dataset, make_run: Maker) -> None:
    found = slice_run(scored(make_run(data, 0.8)), "source")
    assert {c.value for c in found.cells} == {"source 0", "source 1", "source 2"}
    assert (found.suppressed, found.suppressed_records) == (1, 7)
    assert all(c.n >= LEAST_RECORDS for c in found.cells)
    model = slice_run(scored(make_run(data, 0.8)), "model")
    assert model.without == 300


def test_a_handful_of_a_class_suppresses_a_cell_and_none_at_all_leaves_accuracy(
    make_data: Maker, make_run: Maker
) -> None:
    data = make_data(300)
    few = pl.when(pl.col("language") == "eng").then(pl.lit("true")).otherwise(pl.col("veracity"))
    few = (
        pl.when((pl.col("language") == "deu") & ~pl.col("id").is_in(["r1", "r6"]))
        .then(pl.lit("true"))
        .otherwise(few)
    )
    few = pl.when(pl.col("id").is_in(["r1", "r6"])).then(pl.lit("false")).otherwise(few)
    changed = Dataset.build("made-up", data.records.with_columns(few.alias("veracity")))
    found = slice_run(scored(make_run(changed, 0.8)), "language")
    cells = {c.value: c for c in found.cells}
    assert "deu" not in cells, "two false ones among 60 say nothing of the class"
    assert found.suppressed == 1
    assert cells["eng"].macro_f1 is None
    assert cells["eng"].why == "All are true: accuracy is its recall."
    assert 0.6 < cells["eng"].accuracy < 1
    assert found.mean is not None  # of the three that have one


def test_any_column_and_dates(data: Dataset, make_run: Maker) -> None:
    run = scored(make_run(data, 0.8))
    assert [c.value for c in slice_run(run, "date").cells] == ["2020", "2021", "2022", "2023"]
    assert [c.value for c in slice_run(run, "month").cells] == [
        "2020-05",
        "2021-05",
        "2022-05",
        "2023-05",
    ]
    assert [c.value for c in slice_run(run, "party").cells] == ["blue"]
    assert [c.value for c in slice_run(run, "split").cells] == ["test"]
    with pytest.raises(UnknownName, match="partie"):
        slice_run(run, "partie")


def test_what_does_not_tell_records_apart_is_not_shown_unasked(
    data: Dataset, make_run: Maker
) -> None:
    run = scored(make_run(data, 0.8))
    names = telling(run)
    assert "kind" not in names  # no record has one
    assert {"language", "family", "resource", "authorship", "model", "source", "year"} <= set(names)
    assert [s.by for s in evaluate_run(run, draws=200).slices] == names


def test_intervals_of_cells_know_groups(make_data: Maker, make_run: Maker) -> None:
    """Ten copies of each record are no more evidence than one."""
    data = make_data(200, per_group=1)
    run = make_run(data, 0.75)
    copies = [
        data.records.with_columns(pl.format("{}-{}", "id", pl.lit(i)).alias("id"), group="id")
        for i in range(10)
    ]
    said = run.tables["predictions"]
    told = [
        said.with_columns(pl.format("{}-{}", "record_id", pl.lit(i)).alias("record_id"))
        for i in range(10)
    ]
    many = Dataset.build("made-up", pl.concat(copies), {"predictions": pl.concat(told)})
    one, ten = (slice_run(scored(r), "language").cells[0] for r in (run, many))
    assert ten.n == 10 * one.n
    assert ten.groups == one.groups
    assert ten.macro_f1_interval is not None
    assert ten.macro_f1_interval == pytest.approx(one.macro_f1_interval, abs=0.03)


def test_records_without_a_language_are_no_language_of_the_gap(
    data: Dataset, make_run: Maker
) -> None:
    """They have a resource class of their own in `meta`: they are in the pooled gap, not in the
    mean of languages.
    """
    skill = [0.5 if code == "afr" else 0.9 for code in data.records["language"].to_list()]
    run = make_run(data, skill)
    of = (
        pl.when(pl.col("language").is_in(["swa", "afr"]))
        .then(pl.lit("tail"))
        .otherwise(pl.lit("head"))
    )
    stated = pl.concat_str(pl.lit('{"resource": "'), of, pl.lit('"}'))
    unknown = pl.when(pl.col("language") != "afr").then("language")
    full = head_tail_gap(scored(run))
    run.records = run.records.with_columns(meta=stated).with_columns(language=unknown)
    gap = head_tail_gap(scored(run))
    assert full is not None
    assert gap is not None
    assert gap.pooled.value == pytest.approx(full.pooled.value)
    cells = {c.value: c.macro_f1 for c in slice_run(scored(run), "language").cells}
    heads = [cells[code] for code in cells if code not in ("swa", "afr")]
    assert gap.mean_of_languages is not None
    assert gap.mean_of_languages.value == pytest.approx(np.mean(heads) - cells["swa"])
