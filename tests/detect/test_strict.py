"""A file of predictions is read strictly, and the same by every verb that takes one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import claimlab as cl
from claimlab.cli.app import run as run_command
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError

CLASSES = ("true", "false")
OWN = {"true": "Real", "false": "Hoax"}  # as the data writes its labels


def made_up(n: int = 120, *, hidden: bool = False) -> Dataset:
    """Claims with labels in words of their own: a third of them is the test."""
    truth = [CLASSES[i * i % 7 % 2] for i in range(n)]
    split = [("train", "test", "dev")[i % 3] for i in range(n)]
    shown = [None if hidden and s == "test" else t for t, s in zip(truth, split, strict=True)]
    return Dataset.build(
        "bridges",
        pl.DataFrame(
            {
                "id": [f"bridges-{s}-{i}" for i, s in enumerate(split)],
                "text": [f"Bridge {i} was opened in {1900 + i}." for i in range(n)],
                "veracity": shown,
                "label_raw": [None if t is None else OWN[t] for t in shown],
                "split": split,
            }
        ),
    )


DATA = made_up()
TEST = DATA.records.filter(split="test")
ANSWERS = [t if i % 4 else CLASSES[t == "true"] for i, t in enumerate(TEST["veracity"])]
SHARES = [
    round(0.9 - 0.01 * i if a == "true" else 0.1 + 0.01 * i, 3) for i, a in enumerate(ANSWERS)
]
PLAIN = pl.DataFrame({"id": TEST["id"], "label": ANSWERS})


def scored(data: Dataset, file: Path, **how: Any) -> dict[str, Any]:
    """The figures of a file by both verbs, which must agree."""
    run = cl.detect(data, predictions=file, **how)
    (result,) = cl.evaluate(predictions=file, data=data, draws=200, by=[], **how).runs
    (again,) = cl.evaluate(run, draws=200, by=[]).runs
    for one in (result, again):
        assert one.scores.macro_f1 == pytest.approx(run.report["scores"]["macro_f1"])
        assert one.scores.accuracy == pytest.approx(run.report["scores"]["accuracy"])
        assert one.scores.n == run.report["scores"]["n"]
    assert again.scores == result.scores
    return {"n": result.scores.n, **{m: v.value for m, v in result.scores.metrics.items()}}


def written(frame: pl.DataFrame, place: Path) -> Path:
    frame.write_csv(place)
    return place


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return scored(DATA, written(PLAIN, tmp_path_factory.mktemp("plain") / "plain.csv"))


def run_file(file: Path, names: tuple[str, str], words: dict[str, str], *, tabs: bool) -> None:
    table = pl.DataFrame(
        {
            names[0]: TEST["id"].str.extract(r"(\d+)$"),
            names[1]: [words[a] for a in ANSWERS],
            "run_id": ["team"] * len(ANSWERS),
        }
    )
    table.write_csv(file, separator="\t" if tabs else ",")


def checkthat(file: Path) -> None:
    run_file(file, ("Sentence_id", "class_label"), OWN, tabs=True)


def fever(file: Path) -> None:
    rows = zip(TEST["id"], ANSWERS, strict=True)
    lines = [
        {"id": i, "predicted_label": OWN[a].upper(), "predicted_evidence": [["Page", 1]]}
        for i, a in rows
    ]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def averitec(file: Path) -> None:
    """Numbers of its own, from 0: they are no ids of the dataset, though some look like a part of
    one, so that the claims tell which record is meant."""
    lines = [
        {"claim_id": n, "claim": text, "pred_label": OWN[a], "evidence": []}
        for n, (text, a) in enumerate(zip(TEST["text"], ANSWERS, strict=True))
    ]
    file.write_text(json.dumps(lines), encoding="utf-8")


def pipeline(file: Path) -> None:
    rows = [{"label": OWN[a], "score": max(s, 1 - s)} for a, s in zip(ANSWERS, SHARES, strict=True)]
    file.write_text(json.dumps(rows), encoding="utf-8")


def whole_pipeline(file: Path) -> None:
    rows = [[{"label": "Real", "score": s}, {"label": "Hoax", "score": 1 - s}] for s in SHARES]
    file.write_text(json.dumps(rows), encoding="utf-8")


def predict_proba(file: Path) -> None:
    pl.DataFrame({"Hoax": [1 - s for s in SHARES], "Real": SHARES}).write_csv(file)


def by_text(file: Path) -> None:
    texts = TEST["text"].str.to_uppercase()
    pl.DataFrame({"text": texts, "prediction": ANSWERS, "label": TEST["veracity"]}).write_csv(file)


FORMS: dict[str, Callable[[Path], None]] = {
    "run.tsv": checkthat,
    "fever.jsonl": fever,
    "averitec.json": averitec,
    "pipeline.json": pipeline,
    "whole.json": whole_pipeline,
    "proba.csv": predict_proba,
    "texts.csv": by_text,
}


def test_rows_with_the_text_of_another_record_are_said(tmp_path: Path) -> None:
    """Texts that were sorted apart from their ids: the scores are of the wrong records."""
    table = PLAIN.with_columns(text=TEST["text"].reverse())
    run = cl.detect(DATA, predictions=written(table, tmp_path / "sorted.csv"))
    assert run.report["notes"] == [
        "40 rows have the text of another record than the id says: ids are believed."
    ]
    right = PLAIN.with_columns(text=TEST["text"].str.to_uppercase())
    assert cl.detect(DATA, predictions=written(right, tmp_path / "r.csv")).report["notes"] == []


@pytest.mark.parametrize("name", FORMS)
def test_every_known_output_has_the_same_figures(
    name: str, plain: dict[str, Any], tmp_path: Path
) -> None:
    FORMS[name](tmp_path / name)
    found = scored(DATA, tmp_path / name)
    for key in ("n", "accuracy", "macro_f1", "mcc"):
        assert found[key] == pytest.approx(plain[key]), key
    if name in ("pipeline.json", "whole.json", "proba.csv"):
        directed = PLAIN.with_columns(score_true=pl.Series(SHARES))
        wanted = scored(DATA, written(directed, tmp_path / "directed.csv"))
        assert found["auroc"] == pytest.approx(wanted["auroc"])
        assert found["brier"] == pytest.approx(wanted["brier"])


def test_own_words_are_shown_with_what_they_mean(tmp_path: Path) -> None:
    words = PLAIN.with_columns(label=pl.Series([OWN[a].upper() for a in ANSWERS]))
    run = cl.detect(DATA, predictions=written(words, tmp_path / "p.csv"), output=tmp_path / "run")
    mapped = {"REAL": "true", "HOAX": "false"}
    assert run.report["answers"]["words"] == mapped
    assert run.lineage[-1].parameters["settings"]["words"] == mapped
    assert any("'HOAX' as false" in note for note in run.report["notes"])
    assert run.report["answers"]["answered"] == run.report["answers"]["asked"] == TEST.height


TRAIN = DATA.records.filter(split="train")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pl.concat([PLAIN, PLAIN.head(4)]), r"4 records have more than one answer \(such as 'bridges-test-1',"),
        (pl.concat([PLAIN, PLAIN.head(1).with_columns(label=pl.lit("true"))]), "1 record has more than one"),
        (pl.concat([PLAIN, TRAIN.select("id", label="veracity")]), "40 answers are for records of the split 'train'"),
        (PLAIN.with_columns(id=pl.col("id") + pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("x")).otherwise(pl.lit(""))), "2 ids are not in 'bridges'"),
        (PLAIN.with_columns(label=pl.lit("1")), r"40 answers are none of the classes \(such as '1'\).*false \(in the words of the data: Hoax, Real\)"),
        (PLAIN.with_columns(score_maybe=pl.lit(0.5)), "'score_maybe' names none of the classes"),
    ],
)  # fmt: skip
def test_what_is_not_strict_is_an_error_and_nothing_is_written(
    table: pl.DataFrame, message: str, tmp_path: Path
) -> None:
    file = written(table, tmp_path / "p.csv")
    with pytest.raises(DataError, match=message):
        cl.detect(DATA, predictions=file, output=tmp_path / "run")
    with pytest.raises(DataError, match=message):
        cl.evaluate(predictions=file, data=DATA, output=tmp_path / "report")
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "report").exists()


def test_a_named_split_leaves_the_others_out_and_counts_them(
    plain: dict[str, Any], tmp_path: Path
) -> None:
    every = pl.concat([PLAIN, TRAIN.select("id", label="veracity")])
    file = written(every, tmp_path / "p.csv")
    assert scored(DATA, file, split="test") == plain
    run = cl.detect(DATA, predictions=file, split="test")
    assert run.report["notes"] == ["Left out: 40 answers for records of other parts."]
    assert run.report["answers"]["left_out"] == 40


def test_a_gap_is_counted_beside_the_score(tmp_path: Path) -> None:
    file = written(PLAIN.tail(30), tmp_path / "p.csv")
    run = cl.detect(DATA, predictions=file, output=tmp_path / "run")
    assert run.report["notes"] == [
        "Answered 30 of 40 test records; one without an answer counts as wrong."
    ]
    assert (run.report["scores"]["n"], run.report["scores"]["failed"]) == (40, 10)
    assert Dataset.open(tmp_path / "run").records.height == 40
    assert scored(DATA, file)["n"] == 40


def test_answers_to_a_hidden_test_are_checked_without_its_labels(tmp_path: Path) -> None:
    hidden = made_up(hidden=True)
    run = cl.detect(hidden, predictions=written(PLAIN.tail(39), tmp_path / "p.csv"))
    assert run.report["scores"]["accuracy"] is None
    assert run.report["answers"] | {"words": {}} == {
        "part": "test", "asked": 40, "answered": 39, "left_out": 0, "positive": "false", "words": {},
    }  # fmt: skip
    with pytest.raises(DataError, match="2 records have more than one answer"):
        cl.detect(hidden, predictions=written(pl.concat([PLAIN, PLAIN[:2]]), tmp_path / "q.csv"))


def test_a_score_that_may_be_of_the_other_class_is_asked_about(tmp_path: Path) -> None:
    data = made_up(900)
    test = data.records.filter(split="test")
    answers = [t if i % 4 else CLASSES[t == "true"] for i, t in enumerate(test["veracity"])]
    shares = pl.Series([0.6 + i % 30 / 100 if a == "true" else 0.4 for i, a in enumerate(answers)])
    table = pl.DataFrame({"id": test["id"], "label": answers})
    undirected = written(table.with_columns(score=shares), tmp_path / "p.csv")
    by_file = cl.evaluate(predictions=undirected, data=data, draws=200, by=[])
    by_folder = cl.evaluate(cl.detect(data, predictions=undirected), draws=200, by=[])
    for (run,) in (by_file.runs, by_folder.runs):
        assert (run.scores.auroc, run.scores.calibration.ece) == (None, None)
        assert "is it P(true)? Name the column score_true" in str(run.scores.auroc_why)
        assert any("is it P(true)?" in caution for caution in run.cautions)
        assert run.scores.positive == "false"
    for name, area in (("score_true", 0.7), ("score_false", 0.3)):
        answered = written(table.with_columns(shares.alias(name)), tmp_path / "d.csv")
        (run,) = cl.evaluate(predictions=answered, data=data, draws=200, by=[]).runs
        assert run.scores.auroc == pytest.approx(area, abs=0.1), "answered: printed as it is"


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    more = PLAIN.with_columns(mood=pl.lit("calm"), prob_true=pl.Series(SHARES))
    run = cl.detect(DATA, predictions=written(more, tmp_path / "p.csv"))
    assert run.report["notes"] == ["Not read: mood."]
    (result,) = cl.evaluate(run, draws=200, by=[]).runs
    assert result.scores.auroc is not None, "prob_true is the score of true"


def test_texts_of_several_records_answer_for_all_or_are_named(tmp_path: Path) -> None:
    twin = Dataset.build(
        "twins",
        TEST.with_columns(text=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("Same.")).otherwise("text")),
    )  # fmt: skip
    texts = twin.records["text"]
    one = pl.DataFrame({"text": texts, "label": ["true", "true", *ANSWERS[2:]]})
    run = cl.detect(twin, predictions=written(one.unique("text"), tmp_path / "p.csv"))
    assert (
        "1 text belongs to several records: each got the answer of its text." in run.report["notes"]
    )
    assert run.report["scores"]["failed"] == 0
    odd = pl.DataFrame({"text": texts, "label": ["true", "false", *ANSWERS[2:]]})
    with pytest.raises(DataError, match="1 text of several records with different answers"):
        cl.detect(twin, predictions=written(odd, tmp_path / "q.csv"))


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.integers(0, 39), min_size=1, max_size=4, unique=True),
    how=st.sampled_from(["twice", "foreign", "renamed", "train", "shuffled", "spelled"]),
)
def test_a_row_more_or_of_another_name_is_an_error_or_changes_nothing(
    rows: list[int], how: str, plain: dict[str, Any], tmp_path: Path
) -> None:
    chosen = pl.int_range(pl.len()).is_in(rows)
    table = {
        "twice": pl.concat([PLAIN, PLAIN[rows]]),
        "foreign": pl.concat([PLAIN, PLAIN[rows].with_columns(id=pl.lit("x-") + pl.col("id"))]),
        "renamed": PLAIN.with_columns(
            id=pl.when(chosen).then(pl.col("id") + ".json").otherwise("id")
        ),
        "train": pl.concat([PLAIN, TRAIN[rows].select("id", label="veracity")]),
        "shuffled": PLAIN.sample(fraction=1, shuffle=True, seed=rows[0]),
        "spelled": PLAIN.with_columns(label=pl.col("label").str.to_titlecase()),
    }[how]
    file = written(table, tmp_path / "p.csv")
    if how in ("shuffled", "spelled"):
        assert scored(DATA, file) == plain
        return
    for call in (
        lambda: cl.detect(DATA, predictions=file),
        lambda: cl.evaluate(predictions=file, data=DATA, draws=200),
    ):
        with pytest.raises(DataError, match="is not scored"):
            call()


def test_a_hidden_test_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not "0 test records: no record was answered": 39 of 40 were, and none of them has a label."""
    made_up(hidden=True).write(tmp_path / "data")
    file = written(PLAIN.tail(39), tmp_path / "p.csv")
    words = ["detect", str(tmp_path / "data"), "--predictions", str(file)]
    assert run_command([*words, "-o", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "p answers 39 of 40 records; none of these has a label, so nothing is scored." in said
    with pytest.raises(DataError, match=r"40 records without one.*gold is hidden"):
        cl.evaluate(predictions=file, data=tmp_path / "data")
