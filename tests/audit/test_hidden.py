"""A test whose labels are withheld is looked at for leaks, and a headline names the part that was
measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from claimlab.audit.advice import conclude
from claimlab.audit.run import audit
from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

LETTERS = np.random.default_rng(3).choice(list("abcdefghijklmnopqrstuvwxyz"), (900, 9, 6))
TEXTS = [" ".join("".join(word) for word in text) for text in LETTERS]  # no two alike
LEAK = "across the given split"


def task_data(*, labelled: bool, copied: int = 30, dev_copied: int = 0) -> Dataset:
    """Train, dev and a test of 300 texts, the first `copied` of them nearly in train."""
    texts = list(TEXTS)
    for row in range(copied):
        texts[row] = f"{texts[600 + row]}s"
    for row in range(dev_copied):
        texts[100 + row] = f"{texts[500 + row]}s"
    split = ["train"] * 500 + ["dev"] * 100 + ["test"] * 300
    veracity = [
        None if side == "test" and not labelled else ("true", "false")[row % 2]
        for row, side in enumerate(split)
    ]
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(len(texts))],
            "text": texts,
            "veracity": veracity,
            "label_raw": veracity,
            "split": split,
            "source": [f"s{row % 40}" for row in range(len(texts))],
            "date": pl.date_range(pl.date(2024, 1, 1), pl.date(2026, 6, 18), eager=True)[:900],
        },
        schema_overrides={"veracity": pl.String, "label_raw": pl.String},
    )
    return Dataset.build("task", frame.with_columns(pl.col("date").cast(pl.Datetime("us"))))


def found(data: Dataset, check: str, feature: str | None = None) -> Finding:
    findings = audit(data, checks=[check], debug=True).findings
    return next(f for f in findings if feature is None or feature in str(f.feature))


def test_a_hidden_test_leaks_as_much_as_the_same_test_with_labels() -> None:
    hidden, gold = (
        found(task_data(labelled=labelled), "near-duplicates", LEAK) for labelled in (False, True)
    )
    assert hidden.verdict == gold.verdict == "fail"
    assert hidden.details["leaked"] == gold.details["leaked"] == 30
    assert hidden.n == gold.n == 300
    assert hidden.records == gold.records
    assert hidden.details["same_label"] == hidden.details["other_label"] == 0
    assert "None of the test records has a label" in hidden.why


def test_dev_is_beside_it_and_a_clean_hidden_test_passes() -> None:
    leak = found(task_data(labelled=False, copied=0, dev_copied=2), "near-duplicates", LEAK)
    assert (leak.verdict, leak.details["leaked"], leak.details["part"]) == ("pass", 0, "test")
    assert leak.details["dev_leaked"] == 2


def test_a_test_of_which_some_have_no_label_is_counted_whole() -> None:
    data = task_data(labelled=True)
    some = data.records.with_row_index("row").with_columns(
        pl.when(pl.col("row") < 650).then(pl.col(name)).alias(name)
        for name in ("veracity", "label_raw")
    )
    leak = found(Dataset.build("task", some.drop("row")), "near-duplicates", LEAK)
    assert (leak.n, leak.details["leaked"], leak.details["unlabelled"]) == (300, 30, 250)
    assert "250 of the test records have no label" in leak.why


def test_the_advice_names_the_part_that_was_measured() -> None:
    frame = task_data(labelled=True).records.with_columns(
        split=pl.when(pl.col("split") == "test").then(pl.lit("dev")).otherwise("split")
    )
    for data, part in ((Dataset.build("task", frame), "dev"), (task_data(labelled=False), "test")):
        findings = audit(data, checks=["near-duplicates"], debug=True).findings
        (advice,) = conclude(findings).advice
        assert f"of the {part} records" in advice.text


def test_paraphrases_of_a_hidden_test_are_looked_for() -> None:
    finding = found(task_data(labelled=False), "paraphrases")
    assert "300 test records" in finding.why
    assert finding.details["part"] == "test"


@pytest.mark.parametrize("check", ["source", "time", "copies"])
def test_sources_times_and_copies_of_a_hidden_test_are_counted(check: str) -> None:
    data = task_data(labelled=False)
    counts = found(data, check).details["without_label"]
    assert counts["hidden"] == 300
    known = {"source": ("shared", 300), "time": ("not_later", 0), "copies": ("copies", 0)}
    name, number = known[check]
    assert counts[name] == number


def test_contradictions_need_labels() -> None:
    finding = found(task_data(labelled=False), "near-duplicates", "under different labels")
    assert (finding.n, finding.verdict) == (600, "pass")


@pytest.mark.parametrize("name", ["liar", "covid19-fake-news", "fakeddit"])
def test_a_tenth_of_a_published_test_copied_into_train_is_seen_without_its_labels(
    name: str, real_data: Path
) -> None:
    published = load(name, real_data / f"{name}.zip").records
    test = published.filter(pl.col("split") == "test")
    copied = test.head(test.height // 10)
    train = published.filter(
        pl.col("split") == "train", pl.col("veracity").is_in(["true", "false"])
    )
    planted = train.head(copied.height).with_columns(text=copied["text"])
    hide = [
        pl.when(pl.col("split") == "test").then(None).otherwise(pl.col(column)).alias(column)
        for column in ("veracity", "label_raw")
    ]
    frame = pl.concat([planted, train.slice(copied.height), test]).with_columns(hide)
    leak = found(Dataset.build(name, frame), "near-duplicates", LEAK)
    assert leak.details["leaked"] >= 0.99 * copied["text"].count()
    assert leak.details["part"] == "test"
    assert leak.verdict == "fail"
