"""BLUFF's tasks from a made-up tree in its schema, through loader, task and slices: no fault of the
released scorer.

Each test is named after the fault that it would show.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.record import to_side_table
from claimlab.evaluate.evaluation import evaluate_run
from claimlab.evaluate.result import RunResult
from claimlab.evaluate.scored_run import score
from claimlab.evaluate.slices import Slices
from claimlab.tasks import TASKS

EACH = 48  # samples per file
MACHINE = {"afr": "tail", "tur": "head", "deu": "head"}
HUMAN = {"spa": "head", "xho": "tail"}
TASKS_1_TO_4 = ("bluff-1", "bluff-2", "bluff-2-eight", "bluff-3", "bluff-3-any", "bluff-4")
VERDICTS = ("true", "false", "misleading")  # of people's texts; not one of them contains "fake"


def machine_row(language: str, i: int) -> dict[str, str]:
    author = ("MGT", "HAT", "MTT")[i % 3]
    return {
        "uuid": f"g-{language}-{i}", "article_content": f"Bridge {i} of {language} is made of cheese.",
        "language": language, "model": f"lab_model-{i % 2}", "degree": ("critical", "minor", "moderate")[i % 3],
        "veracity": "fake_news" if (i // 3) % 2 else "real_news", "technique_keys": "[12, 32]" if i % 2 else "[12]",
        **{flag: "y" if flag == author else "n" for flag in ("HAT", "MGT", "MTT", "HWT")},
    }  # fmt: skip


def human_row(language: str, i: int) -> dict[str, str]:
    return {
        "uuid": f"h-{language}-{i}", "article_content": f"Bridge {i} of {language} is not made of cheese.",
        "language": language, "organization": "Faro Check", "veracity": VERDICTS[i % 3],
    }  # fmt: skip


@pytest.fixture(scope="module")
def bluff(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The tree as the data card lays it out, loaded with one author per sample."""
    root = tmp_path_factory.mktemp("bluff") / "data"
    folder = root / "processed" / "generated_data"
    for language in MACHINE:
        rows = [machine_row(language, i) for i in range(EACH)]
        _write(folder / "ai_generated" / "lab_model-1" / language / "data.csv", rows)
    for language in HUMAN:
        rows = [human_row(language, i) for i in range(EACH)]
        _write(folder / "human_written" / "Faro Check" / language / "data.csv", rows)
    # The card gives a resource class to generated samples only; people's languages stand in no
    # metadata row.
    meta = [
        {"uuid": f"g-{language}-{i}", "language": language, "language_category": kind}
        for language, kind in MACHINE.items()
        for i in range(EACH)
    ]
    _write(root / "meta_data" / "metadata_ai_generated.csv", meta)
    return cl.load("bluff", root.parent, variant="per-sample", map="strict")


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True)
    pl.DataFrame(rows).write_csv(path)


def result(
    data: Dataset, task: str, *, wrong: float = 0.25, failed: int = 0, **options: object
) -> RunResult:
    """A run that is wrong about a share of the records and fails on the first few."""
    rng = np.random.default_rng(1)
    labels = TASKS.get(task).labels(data.records).to_list()
    classes = sorted({c for c in labels if c is not None})
    said = [
        None if c is None else str(rng.choice(classes)) if rng.random() < wrong else c
        for c in labels
    ]
    said[:failed] = [None] * failed
    table = to_side_table(
        "predictions", pl.DataFrame({"record_id": data.records["id"], "label": said})
    )
    return evaluate_run(score("made-up", table, data, TASKS.get(task)), draws=200, **options)  # type: ignore[arg-type]


def test_task_2_keeps_its_rows(bluff: Dataset) -> None:
    four = result(bluff, "bluff-2", by=[]).scores.classes
    assert set(four) == {"real-HWT", "real-MGT", "fake-HWT", "fake-MGT"}
    assert sum(four.values()) == (bluff.records["authorship"].is_in(["HWT", "MGT"])).sum()
    eight = result(bluff, "bluff-2-eight", by=[]).scores.classes
    assert sum(eight.values()) == bluff.records.height
    assert {name.split("-")[1] for name in eight} == {"HWT", "MGT", "MTT", "HAT"}


def test_task_4_keeps_the_human_class(bluff: Dataset) -> None:
    found = result(bluff, "bluff-4", by=[]).scores
    assert found.classes == {"HWT": 2 * EACH, "MGT": EACH, "MTT": EACH, "HAT": EACH}
    assert {c.name for c in found.per_class} == {"HWT", "MGT", "MTT", "HAT"}


def test_false_and_misleading_are_fake(bluff: Dataset) -> None:
    labels = bluff.records.select(
        "label_raw", task=TASKS.get("bluff-1").labels(bluff.records)
    ).unique()
    assert dict(labels.iter_rows()) == {
        "true": "real", "false": "fake", "misleading": "fake", "real_news": "real", "fake_news": "fake",
    }  # fmt: skip


def test_both_readings_of_machine(bluff: Dataset) -> None:
    assert result(bluff, "bluff-3", by=[]).scores.classes == {"human": 2 * EACH, "machine": EACH}
    assert result(bluff, "bluff-3-any", by=[]).scores.classes == {
        "human": 2 * EACH,
        "machine": 3 * EACH,
    }


def test_families_scripts_and_orders_are_known(bluff: Dataset) -> None:
    found = {
        s.by: s
        for s in result(bluff, "bluff-1", by=["language", "family", "script", "word_order"]).slices
    }
    assert _values(found["language"]) == {*MACHINE, *HUMAN}
    assert _values(found["family"]) == {"Indo-European", "Turkic", "Niger-Congo"}
    assert len(found["word-order"].cells) >= 2
    assert all(s.without == 0 for s in found.values())
    assert not any("nknown" in value for s in found.values() for value in _values(s))


def test_human_rows_have_a_resource_class(bluff: Dataset) -> None:
    (found,) = result(bluff, "bluff-1", by=["resource"]).slices
    assert found.without == 0
    assert {c.value: c.n for c in found.cells} == {"head": 3 * EACH, "tail": 2 * EACH}
    assert found.gap is not None
    assert found.gap.mean_of_languages is not None


def test_what_failed_is_no_pass(bluff: Dataset) -> None:
    whole, some = (result(bluff, "bluff-1", wrong=0.0, failed=n, by=[]).scores for n in (0, 30))
    assert whole.accuracy == 1.0
    assert some.failed == 30
    assert some.accuracy == pytest.approx(1 - 30 / some.n)
    assert some.answered_accuracy == 1.0


def test_models_techniques_and_degrees_are_told_apart(bluff: Dataset) -> None:
    found = {
        s.by: s
        for s in result(bluff, "bluff-1", by=["model", "technique", "degree", "authorship"]).slices
    }
    assert _values(found["model"]) == {"lab_model-0", "lab_model-1"}
    assert found["model"].without == 2 * EACH  # people's texts have no model
    assert _values(found["degree"]) == {"minor", "moderate", "critical"}
    by_technique = {c.value: c.n for c in found["technique"].cells}
    assert sorted(by_technique.values()) == [3 * EACH // 2, 3 * EACH], (
        "a text with two techniques counts for both"
    )
    assert _values(found["authorship"]) == {"HWT", "MGT", "MTT", "HAT"}


@pytest.mark.parametrize("task", TASKS_1_TO_4)
def test_every_task_is_scored_on_the_tree(bluff: Dataset, task: str) -> None:
    found = result(bluff, task)
    low, high = found.intervals["macro_f1"] or (1.0, 0.0)
    assert 0.6 < low < found.scores.macro_f1 < high < 1
    assert found.slices


@pytest.mark.realdata
@pytest.mark.parametrize("task", TASKS_1_TO_4)
def test_every_task_is_scored_on_real_texts_of_people_and_machine(
    real_f3: Dataset, task: str
) -> None:
    found = result(real_f3, task, by=["authorship", "degree", "kind", "source"])
    assert found.scores.n == 13_351
    assert found.groups < found.scores.n, "a person's text and what was made of it are one group"
    authors = next(s for s in found.slices if s.by == "authorship")
    assert {c.value: c.n for c in authors.cells} == {"HWT": 10_815, "MGT": 2_536}
    degrees = next(s for s in found.slices if s.by == "degree")
    assert degrees.without == 10_815


@pytest.fixture(scope="module")
def real_f3(real_data: Path) -> Dataset:
    """All records, whatever side of the published split they are on."""
    data = cl.load("f3", real_data / "f3.zip")
    data.records = data.records.with_columns(split=pl.lit(None, pl.String))
    return data


def _values(found: Slices) -> set[str]:
    return {c.value for c in found.cells}
