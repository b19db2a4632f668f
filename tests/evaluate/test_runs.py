"""Runs as they are read: folders, predictions made elsewhere, and answers that are no verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.interval import intervals
from claimlab.evaluate.abstentions import abstentions
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.evaluation import evaluate_run
from claimlab.evaluate.front import evaluate
from claimlab.evaluate.measures import measure
from claimlab.evaluate.metric import METRICS
from claimlab.evaluate.metrics.table_scores import areas
from claimlab.evaluate.scored_run import each_run, open_foreign, open_runs
from claimlab.tasks import open_task

Maker = Callable[..., Dataset]


def test_a_run_knows_its_detector_seed_task_and_split(
    data: Dataset, make_run: Maker, tmp_path: Path
) -> None:
    make_run(data, 0.8, seed=4, divided_by="time").write(tmp_path / "run")
    (run,) = open_runs(tmp_path / "run")
    assert (run.about.detector, run.about.seed, run.about.divided_by) == ("coin", 4, "time")
    assert run.task.name == "veracity"
    assert run.table.height == 600
    (other,) = open_runs(tmp_path / "run", task="authorship")
    assert set(other.answers.classes) == {"HWT", "MGT"}
    data.write(tmp_path / "data")
    with pytest.raises(DataError, match="no table of predictions"):
        open_runs(tmp_path / "data")


def test_predictions_made_elsewhere(data: Dataset, make_run: Maker, tmp_path: Path) -> None:
    ours = make_run(data, 0.8, seed=1)
    table = ours.tables["predictions"]
    scores = [json.loads(s)["false"] for s in table["scores"].to_list()]
    file = tmp_path / "theirs.csv"
    pl.DataFrame({"id": table["record_id"], "label": table["label"], "score": scores}).write_csv(
        file
    )
    ours.write(tmp_path / "run")
    (mine,), (theirs,) = open_runs(tmp_path / "run"), open_foreign(file, data)
    left, right = (measure(r.answers) for r in (mine, theirs))
    assert right.macro_f1 == left.macro_f1
    assert right.auroc == pytest.approx(left.auroc)
    assert right.calibration.ece == pytest.approx(left.calibration.ece)
    wide = table.select(
        id="record_id",
        label="label",
        score_true=1 - pl.Series(scores),
        score_false=pl.Series(scores),
    )  # one column per class says the same
    wide.write_csv(tmp_path / "wide.csv")
    (third,) = open_foreign(tmp_path / "wide.csv", data)
    assert measure(third.answers).auroc == pytest.approx(left.auroc)


def test_scores_that_are_no_probabilities_rank_all_the_same(data: Dataset, tmp_path: Path) -> None:
    truth = data.records["veracity"].to_list()
    frame = pl.DataFrame(
        {
            "id": data.records["id"],
            "label": truth,
            "score": [3.5 if t == "false" else -2 for t in truth],
        }
    )
    frame.write_csv(tmp_path / "p.csv")
    (run,) = open_foreign(tmp_path / "p.csv", data)
    found = measure(run.answers)
    assert found.auroc == 1.0
    assert found.calibration.ece is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,said\nr1,true\n", "no column 'label'"),
        ("id,label\nx1,true\n", "No id in 'p.csv' is an id of 'made-up'"),
        ("id,label,score\nr1,true,high\n", "holds 'high', which is not a number"),
    ],
)
def test_wrong_files_are_sentences(text: str, message: str, data: Dataset, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        open_foreign(tmp_path / "p.csv", data)


def test_a_blank_answer_and_a_missing_one_are_both_wrong(data: Dataset, tmp_path: Path) -> None:
    truth = data.records["veracity"].to_list()
    lines = ["id,label", *(f"r{i},{truth[i] if i % 10 else ''}" for i in range(500))]
    (tmp_path / "p.csv").write_text("\n".join(lines), encoding="utf-8")
    for split in (None, "test"):
        (run,) = open_foreign(tmp_path / "p.csv", data, split=split)
        assert run.table.height == 600
        found = measure(run.answers)
        assert (found.failed, found.accuracy) == (150, pytest.approx(0.75))
        assert found.answered_accuracy == 1.0


def test_a_run_folder_is_read_as_strictly(data: Dataset, make_run: Maker) -> None:
    run = make_run(data, 0.8)
    table = run.tables["predictions"]
    run.tables["predictions"] = pl.concat([table, table.head(5)])
    with pytest.raises(DataError, match=r"5 records have several predictions \(such as 'r0'"):
        open_runs(run)
    run.tables["predictions"] = table.with_columns(record_id=pl.lit("x") + pl.col("record_id"))
    with pytest.raises(DataError, match="600 predictions are for no record"):
        open_runs(run)
    run.tables["predictions"] = table.filter(pl.col("label") == run.records["veracity"])
    (kept,) = open_runs(run)
    assert measure(kept.answers).accuracy == pytest.approx(table.filter(
        pl.col("label") == run.records["veracity"]).height / 600)  # fmt: skip
    parted = run.records.with_columns(
        split=pl.when(pl.int_range(pl.len()) < 100).then(pl.lit("train")).otherwise("split")
    )
    mixed = Dataset.build(
        data.name, parted, {"predictions": table}, lineage=run.lineage
    )  # as a run was written that was made of a file with training ids
    with pytest.raises(DataError, match="100 predictions for records that are not in the split"):
        open_runs(mixed)
    (tested,) = open_runs(mixed, split="test")
    assert tested.table.height == 500


def test_no_evidence_and_insufficient_evidence_are_scored_apart(
    data: Dataset, make_run: Maker, tmp_path: Path
) -> None:
    truth: list[str | None] = list(data.records["veracity"].to_list())
    labels, meta = truth.copy(), [None] * 600
    labels[:60] = ["No evidence"] * 60
    labels[60:90] = ["Not enough info"] * 30
    labels[90:100] = [None] * 10
    told: list[dict[str, str] | None] = [
        *meta[:90],
        *[{"abstained": "insufficient-evidence"}] * 5,
        *meta[95:],
    ]
    make_run(data, 1.0, labels=labels, meta=told).write(tmp_path / "run")
    (run,) = open_runs(tmp_path / "run")
    found = abstentions(run)
    assert found is not None
    assert {w.kind: w.n for w in found.kinds} == {"no-evidence": 60, "insufficient-evidence": 35}
    assert found.kinds[0].classes == {c: truth[:60].count(c) for c in ("true", "false")}
    assert found.coverage == pytest.approx(500 / 600)
    assert found.accuracy == found.macro_f1 == 1.0
    low, high = found.coverage_interval or (1.0, 0.0)
    assert low < found.coverage < high
    scores = measure(run.answers)
    assert (scores.failed, scores.other) == (5, 95), "to abstain is no failure"
    assert scores.accuracy == pytest.approx(500 / 600), "but no right answer either"
    make_run(data, 0.9).write(tmp_path / "plain")
    assert abstentions(open_runs(tmp_path / "plain")[0]) is None


def test_nothing_to_score_is_a_sentence(data: Dataset, make_run: Maker, tmp_path: Path) -> None:
    make_run(data, 0.9).write(tmp_path / "run")
    with pytest.raises(
        DataError, match="no prediction for a record that the task 'stance' gives a label"
    ):
        evaluate([tmp_path / "run"], task="stance")


def test_the_area_of_counts_is_the_area_of_repeated_records() -> None:
    import numpy as np
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    truth, score = rng.random(300) < 0.4, np.round(rng.normal(size=300), 1)
    distinct, place = np.unique(score, return_inverse=True)
    for _ in range(5):
        times = rng.integers(0, 4, size=300)
        counts = np.bincount(place * 2 + truth, weights=times, minlength=2 * len(distinct)).reshape(
            1, -1, 2
        )
        expected = roc_auc_score(np.repeat(truth, times), np.repeat(score, times))
        assert areas(counts)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_the_interval_of_the_area_is_that_of_drawing_records_one_by_one() -> None:
    import numpy as np
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(3)
    truth = rng.random(3_000) < 0.4
    score = rng.normal(size=3_000) + truth  # more distinct scores than places in the table
    matrix = np.stack([-score, score], axis=1)
    run = Answers(
        ("a", "b"),
        truth.astype(int),
        truth.astype(int),
        np.arange(3_000),
        matrix,
        ("a", "b"),
        positive="b",
    )
    cells = METRICS.get("auroc").cells(run)
    assert cells is not None
    low, high = intervals(run.cluster, cells.cell.ravel(), cells.size, cells.figure)[0] or (
        1.0,
        0.0,
    )
    drawn = []
    for _ in range(400):
        rows = rng.integers(3_000, size=3_000)
        drawn.append(roc_auc_score(truth[rows], score[rows]))
    assert (low + high) / 2 == pytest.approx(roc_auc_score(truth, score), abs=0.002)
    assert high - low == pytest.approx(2 * 1.96 * np.std(drawn), rel=0.12)


def test_the_interval_of_the_area_holds_it(data: Dataset, make_run: Maker, tmp_path: Path) -> None:
    make_run(data, 0.8).write(tmp_path / "run")
    (run,) = open_runs(tmp_path / "run")
    found = evaluate_run(run, by=[], draws=200)
    low, high = found.intervals["auroc"] or (1.0, 0.0)
    assert found.scores.auroc is not None
    assert low < found.scores.auroc < high
    assert high - low < 0.12


def test_scores_belong_to_a_class_whatever_its_capitals(
    data: Dataset, make_run: Maker, tmp_path: Path
) -> None:
    run = make_run(data, 0.8)
    plain = measure(
        each_run("plain", run.tables["predictions"], data, open_task("veracity"))[0].answers
    )
    loud = run.tables["predictions"].with_columns(pl.col("scores").str.to_titlecase())
    assert json.loads(loud["scores"][0]).keys() == {"True", "False"}
    found = measure(each_run("loud", loud, data, open_task("veracity"))[0].answers)
    assert found.auroc == plain.auroc
    assert found.calibration == plain.calibration


def test_scores_that_name_none_of_the_classes_rank_nothing(data: Dataset, make_run: Maker) -> None:
    predictions = make_run(data, 0.8).tables["predictions"]
    (run,) = each_run("x", predictions, data, open_task("bluff-4"))
    found = measure(run.answers)
    assert (found.auroc, found.calibration.ece) == (None, None)
    assert (
        found.auroc_why == found.calibration.why == "The scores do not name the class HWT or MGT."
    )


@pytest.mark.parametrize("scores", ["not json", "[0.1, 0.9]", '{"true": "high", "false": 1}'])
def test_scores_that_cannot_be_read_are_a_sentence(
    data: Dataset, make_run: Maker, scores: str
) -> None:
    predictions = make_run(data, 0.8).tables["predictions"].with_columns(scores=pl.lit(scores))
    (run,) = each_run("x", predictions, data, open_task("veracity"))
    with pytest.raises(DataError, match=r"The scores '.*' are not a JSON object"):
        _ = run.answers


def test_a_score_that_is_null_is_unknown_and_not_nothing(data: Dataset, make_run: Maker) -> None:
    predictions = (
        make_run(data, 0.8)
        .tables["predictions"]
        .with_columns(scores=pl.lit('{"true": null, "false": 0.5}'))
    )
    (run,) = each_run("x", predictions, data, open_task("veracity"))
    assert measure(run.answers).auroc_why == "The run gives no scores."


def test_classes_that_differ_only_in_capitals_are_two(data: Dataset, make_run: Maker) -> None:
    odd = [("True", "true")[i % 2] for i in range(data.records.height)]
    told = Dataset.build("made-up", data.records.with_columns(label_raw=pl.Series(odd)))
    predictions = make_run(data, 1, labels=odd).tables["predictions"]
    (run,) = each_run("x", predictions, told, open_task("label_raw", told.records))
    assert measure(run.answers).accuracy == 1.0


def test_a_verdict_is_no_abstention_whatever_is_noted_beside_it(
    data: Dataset, make_run: Maker
) -> None:
    noted = make_run(data, 0.8, meta=[{"abstained": "no-evidence"}] * data.records.height)
    (run,) = each_run("x", noted.tables["predictions"], data, open_task("veracity"))
    assert run.table["abstained"].null_count() == run.table.height
    assert abstentions(run) is None


def test_a_run_without_a_prediction_is_no_run(
    data: Dataset, make_run: Maker, tmp_path: Path
) -> None:
    run = make_run(data, 0.8)
    run.tables["predictions"] = run.tables["predictions"].head(0)
    run.write(tmp_path / "run")
    with pytest.raises(DataError, match="holds no prediction"):
        open_runs(tmp_path / "run")
