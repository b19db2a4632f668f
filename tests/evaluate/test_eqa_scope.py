"""Shifts in scope against the splits of the runs: a promise that no run tests is a failure,
whatever the author says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.evaluate.eqa.shifts import DEALT, SHIFTS
from claimlab.evaluate.eqa.study import QUESTIONS, Shifts
from claimlab.evaluate.eqa.write import Assurance
from claimlab.split.strategy import SPLITTERS

ANSWER = "Claims by the same makers, in three languages."
HEAD = f'title = "Invented claims"\n[formulation]\naim = "{ANSWER}"\nintended_generalisation = "{ANSWER}"\n'


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Planted claims split in several ways, with a run of a word model on each."""
    folder = tmp_path_factory.mktemp("scope")
    data = planted(size=400)[0]
    data.write(folder / "data")
    platforms = ["forum", "chat", "press"]
    meta = [json.dumps({"platform": platforms[i % 3]}) for i in range(data.records.height)]
    data = data.derive(
        data.records.with_columns(pl.Series("meta", meta, dtype=pl.String)), data.lineage[-1]
    )
    ways: dict[str, dict[str, Any]] = {
        "random": {}, "time": {}, "source": {}, "event": {}, "language": {}, "near-duplicates": {}, "group": {},
        "platform": {"by": "column", "column": "meta.platform"}, "topic": {"by": "column", "column": "topic"},
        "across": {"by": "random", "train_where": {"language": ("eng",)}, "test_where": {"language": ("deu",)}},
    }  # fmt: skip
    for name, options in ways.items():
        cl.split(data, output=folder / f"split-{name}", **{"by": name, **options})
        cl.detect(folder / f"split-{name}", "tfidf", output=folder / f"run-{name}")
    cl.detect(folder / "split-time", "majority", output=folder / "run-majority")
    return folder


def written(home: Path, shifts: str, *runs: str, data: str = "data", more: str = "") -> Assurance:
    file = home / "eqa.toml"
    listed = "".join(f'[[runs]]\nname = "{run}"\npath = "run-{run}"\n' for run in runs)
    text = f'{HEAD}[shifts]\n{shifts}\n[data]\ndatasets = ["{data}"]\n{listed}{more}'
    file.write_text(text, encoding="utf-8")
    return cl.report(file, home / "eqa", force=True)


def outcomes(content: Assurance) -> dict[str, str]:
    return {result["shift"]: result["outcome"] for result in content["shifts"]}


def failures(content: Assurance) -> list[str]:
    return [limit["sentence"] for limit in content["limits"] if limit["kind"] == "shift"]


@pytest.mark.slow
def test_a_time_shift_in_scope_with_a_random_split_only_is_a_failure(home: Path) -> None:
    content = written(home, 'time = "in scope"', "random")
    assert outcomes(content)["time"] == "not-tested"
    (sentence,) = failures(content)
    assert sentence.startswith(
        "time (later records) is in scope, and no run tests it. 'random': split at random."
    )
    page = (home / "eqa" / "index.html").read_text(encoding="utf-8")
    assert page.index("no run tests it") < page.index('id="formulation"'), "near the top"
    assert "In scope and NOT tested: time." in page
    saved = json.loads((home / "eqa" / "eqa.json").read_text(encoding="utf-8"))
    assert saved["shifts"][0]["outcome"] == "not-tested"
    assert saved["limits"][0]["kind"] == "shift", "the first of all limits"


def test_a_time_split_tests_it_and_is_named_with_its_score(home: Path) -> None:
    content = written(home, 'time = "in scope"', "random", "time")
    assert failures(content) == []
    (test,) = next(result["tests"] for result in content["shifts"] if result["shift"] == "time")
    assert test["run"] == "time"
    scores = next(run["scores"] for run in content["quality"]["runs"] if run["name"] == "time")
    assert test["macro_f1"] == scores["macro_f1"]
    page = (home / "eqa" / "index.html").read_text(encoding="utf-8")
    assert "split by time (test-from=" in page
    assert f"macro-F1 {100 * test['macro_f1']:.1f}" in page


@pytest.mark.parametrize(
    ("run", "tested"),
    [
        ("random", set()), ("near-duplicates", set()), ("group", set()), ("majority", set()), ("time", {"time"}),
        ("source", {"source"}), ("event", {"topic"}), ("topic", {"topic"}), ("language", {"language"}),
        ("platform", {"platform"}), ("across", {"language"}),
    ],
)  # fmt: skip
def test_what_a_run_tests_is_read_from_its_split(run: str, tested: set[str], home: Path) -> None:
    content = written(home, "\n".join(f'{name} = "in scope"' for name in SHIFTS), run)
    assert {name for name, outcome in outcomes(content).items() if outcome == "tested"} == tested


def test_the_author_cannot_claim_a_test_that_was_none(home: Path) -> None:
    content = written(home, 'time = { scope = "in scope", tested_by = "random" }', "random")
    assert outcomes(content)["time"] == "not-tested"
    assert "'random' is said to test time, but does not: split at random." in failures(content)
    content = written(
        home, 'time = { scope = "in scope", tested_by = ["random", "elsewhere"] }', "random", "time"
    )
    assert outcomes(content)["time"] == "tested"
    assert failures(content) == [
        "'random' is said to test time, but does not: split at random.",
        "'elsewhere' is said to test time, but no run or split has this name.",
    ]
    content = written(home, 'time = { scope = "in scope", tested_by = "time" }', "time")
    assert failures(content) == []


@pytest.mark.slow
def test_a_split_that_came_with_the_data_is_measured_on_the_records(home: Path) -> None:
    """No lineage says how it was split: dates say whether every test record is later than all
    training records.
    """
    data = Dataset.open(home / "data")
    plain = data.records.sort("date", "id").with_row_index("row")
    late = (
        pl.when(pl.col("date") >= plain["date"][300])
        .then(pl.lit("test"))
        .otherwise(pl.lit("train"))
    )
    mixed = pl.when(pl.col("row") % 4 == 0).then(pl.lit("test")).otherwise(pl.lit("train"))
    for name, side, expected in (("late", late, "tested"), ("mixed", mixed, "not-tested")):
        Dataset.build(name, plain.with_columns(side.alias("split")).drop("row")).write(
            home / f"given-{name}"
        )
        cl.detect(home / f"given-{name}", "tfidf", output=home / f"run-{name}")
        content = written(home, 'time = "in scope"', name, data=f"given-{name}")
        assert outcomes(content)["time"] == expected, name
        away = written(home, 'time = "in scope"', name)
        assert outcomes(away)["time"] == "not-tested", (
            "without the training records nothing is shown"
        )
        assert "not within reach" in failures(away)[0]


def test_one_record_without_a_date_is_not_taken_for_a_later_one(home: Path) -> None:
    data = Dataset.open(home / "data")
    rows = data.records.sort("date", "id").with_row_index("row")
    side = (
        pl.when(pl.col("date") >= rows["date"][300]).then(pl.lit("test")).otherwise(pl.lit("train"))
    )
    undated = pl.when(pl.col("row") == 5).then(None).otherwise(pl.col("date"))
    frame = rows.with_columns(side.alias("split"), undated.alias("date")).drop("row")
    Dataset.build("undated", frame).write(home / "given-undated")
    cl.detect(home / "given-undated", "tfidf", output=home / "run-undated")
    assert (
        outcomes(written(home, 'time = "in scope"', "undated", data="given-undated"))["time"]
        == "not-tested"
    )


def test_predictions_scored_outside_the_test_set_test_nothing(home: Path) -> None:
    data = Dataset.open(home / "split-source")
    part = data.records.filter(pl.col("split") == "dev")
    table = pl.DataFrame({"record_id": part["id"], "label": part["veracity"]})
    table.write_parquet(home / "dev.parquet")
    run = '[[runs]]\nname = "dev"\npath = "dev.parquet"\ndataset = "split-source"\nsplit = "dev"\n'
    content = written(home, 'source = "in scope"', more=run)
    assert outcomes(content)["source"] == "not-tested", "dev is drawn from the sources of training"
    assert "are not in the test set" in failures(content)[0]


def test_predictions_made_elsewhere_are_tested_with_a_reservation(home: Path) -> None:
    data = Dataset.open(home / "split-time")
    part = data.records.filter(pl.col("split") == "test")
    table = pl.DataFrame(
        {"id": part["id"], "label": part["veracity"], "run": ["tfidf"] * part.height}
    )
    table.write_csv(home / "theirs.csv")
    theirs = home / "theirs.csv"
    cl.detect(home / "split-time", predictions=theirs, output=home / "run-theirs", force=True)
    content = written(home, 'time = "in scope"', "theirs")
    (test,) = content["shifts"][0]["tests"]
    assert "made elsewhere" in test["how"], "a run that is only called tfidf is not taken for ours"


def test_free_text_still_works_and_says_how_to_write_the_form(home: Path) -> None:
    answers = "".join(f'{name} = "{ANSWER}"\n' for name in QUESTIONS)
    file = home / "old.toml"
    file.write_text(
        f'title = "Old"\n[formulation]\n{answers}[data]\ndatasets = ["data"]\n', encoding="utf-8"
    )
    content = cl.report(file)
    assert content["shifts"] == []
    (limit,) = [limit for limit in content["limits"] if limit["kind"] == "scope"]
    assert "[shifts]" in limit["sentence"]
    assert 'time = "in scope"' in limit["sentence"]


def test_what_is_left_open_is_one_limit(home: Path) -> None:
    content = written(home, 'time = "out of scope"\nsource = "left open"', "random")
    (limit,) = [limit for limit in content["limits"] if limit["kind"] == "scope"]
    assert "source (other sources), topic" in limit["sentence"]
    assert "time" not in limit["sentence"]
    assert failures(content) == []


@pytest.mark.parametrize(
    ("shifts", "message"),
    [
        ('time = "yes"', "'in scope', 'out of scope'"),
        ('tme = "in scope"', "shifts.tme"),
        (
            'time = { scope = "out of scope", tested_by = "random" }',
            'tested_by needs scope = "in scope"',
        ),
        ('time = ""', "time under"),
    ],
)
def test_a_form_that_is_filled_in_wrongly_is_refused(shifts: str, message: str, home: Path) -> None:
    with pytest.raises(DataError, match=message):
        written(home, shifts, "random")


def test_every_strategy_is_known_to_hold_something_out_or_nothing() -> None:
    """A new strategy must say what it tests: one that is forgotten here is measured on the records,
    or not at all.
    """
    known = (
        DEALT
        | {s for shift in SHIFTS.values() for s in shift.strategies}
        | {"column", "external", "lists"}
    )
    assert set(SPLITTERS.names()) == known
    assert list(Shifts.model_fields) == list(SHIFTS)


def test_a_word_model_cannot_have_met_the_test_records(home: Path) -> None:
    def kinds(content: Assurance) -> list[str]:
        return [
            limit["sentence"] for limit in content["limits"] if limit["kind"] == "contamination"
        ]

    assert kinds(written(home, 'time = "in scope"', "random")) == []
    assert len(kinds(written(home, 'time = "in scope"'))) == 1, "without a run nothing rules it out"
    part = Dataset.open(home / "split-random").records.filter(pl.col("split") == "test")
    pl.DataFrame({"record_id": part["id"], "label": part["veracity"]}).write_parquet(
        home / "unknown.parquet"
    )
    run = '[[runs]]\nname = "unknown"\npath = "unknown.parquet"\ndataset = "split-random"\n'
    assert len(kinds(written(home, 'time = "in scope"', "random", more=run))) == 1, (
        "it may be a language model"
    )


def test_an_audit_that_was_refused_is_not_called_absent(home: Path) -> None:
    cl.audit(home / "split-source", checks=["one-class"], output=home / "audit")
    data = Dataset.open(home / "data")
    data.derive(data.records.head(50), data.lineage[-1]).write(home / "cut")
    file = home / "refused.toml"
    text = f'{HEAD}[shifts]\ntime = "left open"\n[data]\ndatasets = ["cut"]\naudits = ["audit"]\n'
    file.write_text(text, encoding="utf-8")
    content = cl.report(file, home / "eqa", force=True)
    page = (home / "eqa" / "index.html").read_text(encoding="utf-8")
    assert "No audit was given" not in page
    assert "1 audit was given and not used: made on other records" in page
    assert not any("No audit was given" in limit["sentence"] for limit in content["limits"])


def test_the_score_of_a_system_that_writes_is_called_a_lower_bound(home: Path) -> None:
    part = Dataset.open(home / "split-random").records.filter(pl.col("split") == "test")
    table = pl.DataFrame(
        {
            "record_id": part["id"],
            "label": part["veracity"],
            "rationale": ["It was checked."] * part.height,
        }
    )
    table.write_parquet(home / "writes.parquet")
    run = '[[runs]]\nname = "writes"\npath = "writes.parquet"\ndataset = "split-random"\n'
    content = written(home, 'time = "left open"', "random", more=run)
    assert {r["name"]: r["lower_bound"] for r in content["quality"]["runs"]} == {
        "random": False,
        "writes": True,
    }
    page = (home / "eqa" / "index.html").read_text(encoding="utf-8")
    assert page.count("read its scores as a lower bound") == 2, (
        "in short, and next to the scores of the run"
    )


def test_zero_shot_answers_are_not_tested_by_a_split(home: Path) -> None:
    """A model that was trained on none of these records has nothing held out from it."""
    data = Dataset.open(home / "run-time")
    step = data.lineage[-1].model_copy(
        update={"parameters": {**data.lineage[-1].parameters, "detector": "llm-zero-shot"}}
    )
    data.lineage = [*data.lineage[:-1], step]
    data.write(home / "run-zero", force=True)
    content = written(home, 'time = "in scope"', "zero")
    assert outcomes(content)["time"] == "not-tested"
    assert "learned nothing from the training records" in failures(content)[0]
    assert content["quality"]["runs"][0]["lower_bound"] is True
