"""Detectors that people have: functions, pipelines and files that load them, scored as a file of
the same answers is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, DataError, UnknownName, UsageError

WORDS = {"true": "Real", "false": "Hoax"}
SCRIPT = """
import os
import sys

print("loaded in", os.getcwd())
classes = ["Hoax", "Real"]


def share(text):
    return 0.8 if "opened" in text else 0.3


def predict(texts):
    print("asked", len(texts))
    return [{"Real": share(text), "Hoax": 1 - share(text)} for text in texts]


def labels(texts):
    return ["Real" if share(text) > 0.5 else "Hoax" for text in texts]


def rows(texts):
    return [[1 - share(text), share(text)] for text in texts]


rows.classes = classes


def loose(texts):
    return [[1 - share(text), share(text)] for text in texts]


def fails(texts):
    return ["Real" if 1 / (len(text) - 22) else "Hoax" for text in texts]


def strange(texts):
    return ["banana"] * len(texts)


def ends(texts):
    os._exit(7)


class Model:
    classes_ = classes

    def predict_proba(self, texts):
        return rows(texts)


model = Model()
"""


@pytest.fixture(scope="module")
def data() -> Dataset:
    rng = np.random.default_rng(0)
    truth = rng.choice(["true", "false"], 240).tolist()
    verbs = ["opened" if (t == "true") == (rng.random() < 0.8) else "closed" for t in truth]
    frame = pl.DataFrame(
        {
            "id": [f"b{i}" for i in range(240)],
            "text": [f"Bridge {i:03d} was {verb}." for i, verb in enumerate(verbs)],
            "veracity": truth,
            "label_raw": [WORDS[t] for t in truth],
            "split": [("train", "test")[i % 2] for i in range(240)],
        }
    )
    return Dataset.build("bridges", frame)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(SCRIPT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def figures(run: Dataset) -> tuple[float, float, float | None]:
    (result,) = cl.evaluate(run, draws=200, by=[]).runs
    assert result.scores.accuracy is not None
    assert result.scores.macro_f1 is not None
    return result.scores.macro_f1, result.scores.accuracy, result.scores.auroc


def share(text: str) -> float:
    return 0.8 if "opened" in text else 0.3


def of_dicts(texts: list[str]) -> object:
    return [{"true": share(text), "false": 1 - share(text)} for text in texts]


def of_labels(texts: list[str]) -> object:
    return np.array(["TRUE" if share(text) > 0.5 else "hoax" for text in texts])


def of_one_class(texts: list[str]) -> object:
    return [{"Real": share(text)} if share(text) > 0.5 else {"Hoax": 0.7} for text in texts]


def of_pipeline(texts: list[str]) -> object:
    """As a text-classification pipeline of Hugging Face gives it."""
    return [
        {"label": "Real", "score": 0.8} if share(text) > 0.5 else {"label": "Hoax", "score": 0.7}
        for text in texts
    ]


def of_all_scores(texts: list[str]) -> object:
    return [
        [{"label": "Real", "score": share(t)}, {"label": "Hoax", "score": 1 - share(t)}]
        for t in texts
    ]


@pytest.mark.parametrize(
    "function", [of_dicts, of_labels, of_one_class, of_pipeline, of_all_scores]
)
def test_a_function_scores_as_a_file_of_its_answers(
    function: Callable[[list[str]], object], data: Dataset, tmp_path: Path
) -> None:
    test = data.records.filter(split="test")
    shares = [share(text) for text in test["text"]]
    label = ["true" if s > 0.5 else "false" for s in shares]
    table = pl.DataFrame({"id": test["id"], "label": label, "score_true": shares})
    table.write_csv(tmp_path / "answers.csv")
    wanted = figures(cl.detect(data, predictions=tmp_path / "answers.csv"))
    run = cl.detect(data, function, output=tmp_path / "run")
    found = figures(Dataset.open(tmp_path / "run"))
    assert found[:2] == wanted[:2]
    assert found[2] == (None if function is of_labels else pytest.approx(wanted[2]))
    settings = run.lineage[-1].parameters["settings"]
    assert run.lineage[-1].parameters["detector"] == function.__name__
    assert len(settings["source_sha256"]) == 64


def test_a_fitted_pipeline_scores_as_its_file_of_shares(data: Dataset, tmp_path: Path) -> None:
    train, test = (data.records.filter(split=part) for part in ("train", "test"))
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    model.fit(train["text"].to_list(), train["label_raw"].to_list())
    shares = model.predict_proba(test["text"].to_list())
    table = pl.DataFrame(dict(zip(map(str, model.classes_), shares.T, strict=True)))
    table.write_csv(tmp_path / "shares.csv")
    run = cl.detect(data, model)
    assert figures(run) == pytest.approx(
        figures(cl.detect(data, predictions=tmp_path / "shares.csv"))
    )
    assert run.lineage[-1].parameters["detector"] == "Pipeline"


@pytest.mark.parametrize(
    "name", ["mine.py:predict", "mine:predict", "mine.py:rows", "mine.py:model", "mine:labels"]
)
def test_a_function_is_named(
    name: str, data: Dataset, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = cl.detect(data, name, output=here / "run")
    wanted = figures(cl.detect(data, of_dicts))
    assert figures(run)[:2] == wanted[:2]
    assert "mine" not in sys.modules, "it runs in a process of its own"
    printed = capfd.readouterr()
    assert f"loaded in {here}" in printed.err, "in the folder where the user stands"
    assert "asked" not in printed.out
    assert run.lineage[-1].parameters["detector"] == name


def test_rerun_makes_it_again_and_says_when_the_source_has_changed(
    data: Dataset, here: Path
) -> None:
    data.write(here / "data")
    cl.detect(here / "data", "mine.py:predict", output=here / "run")
    assert cl.rerun(here / "run", trust=True).same
    (here / "mine.py").write_text(SCRIPT.replace("0.8", "0.6"), encoding="utf-8")
    with pytest.raises(ClaimlabError, match=r"mine\.py"):
        cl.rerun(here / "run", trust=True)


def test_a_received_folder_may_not_run_code_unasked(data: Dataset, here: Path) -> None:
    data.write(here / "data")
    cl.detect(here / "data", "mine.py:predict", output=here / "run")
    with pytest.raises(ClaimlabError, match=r"code mine\.py:predict"):
        cl.rerun(here / "run")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine.py:fails", r"ZeroDivisionError.*line \d+ of mine\.py.*For the text: 'Bridge"),
        (
            "mine.py:strange",
            "answered 'banana', which is none of the classes, for the text 'Bridge",
        ),
        ("mine.py:loose", "2 numbers for a text, in the order of no known classes"),
        ("mine.py:ends", r"its process ended \(exit 7\)"),
        ("mine.py:absent", "cannot be loaded: AttributeError"),
        ("none.py:predict", "cannot be loaded: FileNotFoundError"),
        ("nothing_here:predict", "cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_what_goes_wrong_is_shown_with_its_text(
    name: str, message: str, data: Dataset, here: Path
) -> None:
    with pytest.raises(DataError, match=message):
        cl.detect(data, name, output=here / "run")
    assert not (here / "run").exists()


def test_names_that_are_no_function_lead_to_one(data: Dataset, here: Path) -> None:
    with pytest.raises(UsageError, match="runs the code that is in it.*joblib.load"):
        cl.detect(data, "model.joblib")
    with pytest.raises(UsageError, match=r"detector='file\.py:function'"):
        cl.detect(data, "mine.py")
    with pytest.raises(UnknownName, match=r"file\.py:function.*`predictions`"):
        cl.detect(data, "mydetector")
    with pytest.raises(DataError, match="Pass a function that takes a list of texts"):
        cl.detect(data, 3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="has no settings"):
        cl.detect(data, "mine.py:predict", settings={"a": 1})


def test_no_answer_is_a_failure_that_counts(data: Dataset) -> None:
    def half(texts: list[str]) -> Any:
        return [None if number % 2 else "true" for number, _ in enumerate(texts)]

    run = cl.detect(data, half)
    assert run.report["scores"]["failed"] > 50
    assert run.report["scores"]["n"] == 120
