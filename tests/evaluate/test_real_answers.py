"""The faults of answer files, on real datasets: what raised a score now costs or is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.evaluate.metric import metrics
from claimlab.tasks import open_task, own_task

SETS = {
    "liar": ("liar.zip", None),
    "covid19-fake-news": ("covid19-fake-news.zip", None),
    "checkthat-2024": ("checkthat-2024-task1.zip", "dev-test"),
}
pytestmark = [pytest.mark.realdata, pytest.mark.slow]


@pytest.fixture(scope="module", params=SETS)
def tested(request: pytest.FixtureRequest, real_data: Path) -> tuple[Dataset, pl.DataFrame]:
    """A real dataset, and answers to its test that are right four times in five, with scores."""
    file, part = SETS[request.param]
    data = cl.load(request.param, real_data / file)
    if part is not None:  # a test with labels that goes by another name
        parts = pl.when(pl.col("split") == part).then(pl.lit("test")).otherwise(pl.lit("train"))
        data.records = data.records.with_columns(split=parts)
    task = open_task(own_task(data), data.records)
    test = data.records.filter(split="test").with_columns(
        truth=task.labels(data.records.filter(split="test"))
    )
    classes = task.classes_in(data.records)
    rng = np.random.default_rng(0)
    right = rng.random(test.height) < 0.8
    truth = test["truth"].fill_null(classes[0]).to_list()
    label = [t if r else classes[t == classes[0]] for t, r in zip(truth, right, strict=True)]
    sure = rng.uniform(0.5, 1, test.height)
    first = [s if said == classes[0] else 1 - s for s, said in zip(sure, label, strict=True)]
    table = test.select("id", "text", "label_raw", "truth").with_columns(
        label=pl.Series(label), first=pl.Series(first), name=pl.lit(classes[0])
    )
    return data, table


def scored(data: Dataset, table: pl.DataFrame, file: Path, **how: Any) -> dict[str, float | None]:
    table.write_csv(file)
    run = cl.detect(data, predictions=file, **how)
    (result,) = cl.evaluate(predictions=file, data=data, by=[], draws=200, **how).runs
    assert run.report["scores"]["macro_f1"] == pytest.approx(result.scores.macro_f1)
    return {name: value.value for name, value in result.scores.metrics.items()}


def test_leaving_wrong_answers_out_raises_no_ranked_score(
    tested: tuple[Dataset, pl.DataFrame], tmp_path: Path
) -> None:
    data, table = tested
    name = f"score_{table['name'][0]}"
    answers = table.select("id", "label", "truth", pl.col("first").alias(name))
    whole = scored(data, answers.drop("truth"), tmp_path / "whole.csv")
    wrong = answers.filter(pl.col("label") != pl.col("truth"))["id"]
    for share in (2, 1):  # half of them, all of them
        left = answers.filter(~pl.col("id").is_in(wrong[::share].implode())).drop("truth")
        less = scored(data, left, tmp_path / "less.csv")
        for metric in metrics():
            if metric.ranked:
                assert (less[metric.key] or 0) <= (whole[metric.key] or 0) + 1e-12, metric.name


def test_repeats_train_ids_and_unknown_words_are_refused(
    tested: tuple[Dataset, pl.DataFrame], tmp_path: Path
) -> None:
    data, table = tested
    answers = table.select("id", "label")
    train = data.records.filter(split="train").select("id", label=pl.lit(answers["label"][0]))
    gold = table.drop_nulls("truth").select("id", label="truth")
    for odd, message in (
        (pl.concat([gold, answers]), "more than one answer"),
        (pl.concat([answers, train]), "records of the split 'train'"),
        (answers.with_columns(label=pl.lit("banana")), "none of the classes"),
    ):
        odd.write_csv(tmp_path / "odd.csv")
        with pytest.raises(DataError, match=message):
            cl.detect(data, predictions=tmp_path / "odd.csv", output=tmp_path / "run")
        assert not (tmp_path / "run").exists()
    both = pl.concat([answers, train])
    alone = scored(data, answers, tmp_path / "alone.csv")
    assert scored(data, both, tmp_path / "both.csv", split="test") == alone


def test_own_words_and_texts_score_as_classes_and_ids(
    tested: tuple[Dataset, pl.DataFrame], tmp_path: Path
) -> None:
    data, table = tested
    alone = scored(data, table.select("id", "label"), tmp_path / "alone.csv")
    words = (
        table.drop_nulls(["label_raw", "truth"])
        .group_by("truth")
        .agg(pl.col("label_raw").sort().first())
    )
    own = {name: str(word).upper() for name, word in words.iter_rows()}
    spelled = table.with_columns(label=pl.col("label").replace_strict(own))
    assert scored(data, spelled.select("id", "label"), tmp_path / "own.csv") == alone
    apart = table.filter(pl.col("text").str.to_lowercase().is_unique())
    by_text = apart.select(pl.col("text"), prediction="label")
    by_id = scored(data, apart.select("id", "label"), tmp_path / "ids.csv")
    assert scored(data, by_text, tmp_path / "texts.csv") == by_id
