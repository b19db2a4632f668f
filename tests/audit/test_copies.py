"""Copies of a text with one label are one observation, and a finding of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from parts.planted import clean_twin, planted
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold
from sklearn.tree import DecisionTreeClassifier

from claimlab.audit.check import CHECKS, SHORTCUT_RULE
from claimlab.audit.result import Audit
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

Ints = npt.NDArray[np.int64]
SHORTCUTS = [
    *(name for name, check in CHECKS.all().items() if check.rule == SHORTCUT_RULE),
    "balance",
    "label-errors",
]


def copied(data: Dataset, times: Ints) -> Dataset:
    """`data` with each record as often as `times` says, copies next to their first."""
    rows = np.repeat(np.arange(len(times)), times)
    number = np.arange(len(rows)) - (np.cumsum(times) - times)[rows]
    ids = [
        f"{i}-copy-{k}" if k else i
        for i, k in zip(data.records["id"].gather(rows), number.tolist(), strict=True)
    ]
    return Dataset.build(data.name, data.records[rows].with_columns(pl.Series("id", ids)))


def one_class_copied(data: Dataset, most: int = 80, seed: int = 0) -> Dataset:
    """Each true record 1 to `most` times."""
    drawn = np.random.default_rng(seed).integers(1, most + 1, data.records.height)
    return copied(data, np.where((data.records["veracity"] == "true").to_numpy(), drawn, 1))


def verdicts(result: Audit) -> list[tuple[Any, ...]]:
    every = [f for finding in result.findings for f in finding.every]
    return [
        (f.check, f.feature, f.verdict, f.score, f.difference, f.classes, f.records) for f in every
    ]


def drawn_texts(
    labels: Sequence[int] | Ints, times: Sequence[int] | Ints, **columns: Any
) -> Dataset:
    """A text for each label, as often as `times` says."""
    rows = np.repeat(np.arange(len(times)), times)
    frame = {
        "id": [f"r{i}" for i in range(len(rows))],
        "text": [f"text number {i}" for i in rows],
        "veracity": np.where(np.asarray(labels)[rows] == 1, "true", "false"),
        **{
            name: np.asarray(values, dtype=object)[rows].tolist()
            for name, values in columns.items()
        },
    }
    return Dataset.build("drawn", pl.DataFrame(frame))


def copies_finding(data: Dataset, seed: int = 0) -> Finding:
    (finding,) = audit(data, checks=["copies"], seed=seed, debug=True).findings
    return finding


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: planted()[0], clean_twin], ids=["planted", "clean"])
def test_copies_of_one_class_change_no_shortcut_verdict_and_fail_themselves(make: Any) -> None:
    data = make()
    before = audit(data, checks=SHORTCUTS, debug=True)
    after = audit(one_class_copied(data), checks=SHORTCUTS, debug=True)
    assert verdicts(after) == verdicts(before)
    assert sum(f.verdict != "not-measured" for f in after.findings) >= 10
    assert all("copies are left out" in f.why for f in after.findings if f.score is not None)
    found = copies_finding(one_class_copied(data))
    assert found.verdict == "fail"
    assert "100% of the copies are 'true'" in found.why


def test_the_count_of_copies_is_scored_as_sklearn_does() -> None:
    """Texts of one class are copied more often, not always: macro-F1 over all records, copies of a
    text together.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    times = np.where(rng.random(900) < np.where(y == 1, 0.5, 0.1), rng.integers(2, 9, 900), 1)
    found = copies_finding(drawn_texts(y, times))
    text = np.repeat(np.arange(900), times)
    labels, feature = y[text], times[text][:, None]
    scores = []
    for seed in range(5):
        guess = np.empty_like(labels)
        for train, test in GroupKFold(4, shuffle=True, random_state=seed).split(
            feature, labels, text
        ):
            tree = DecisionTreeClassifier(
                max_leaf_nodes=20, min_samples_leaf=5, class_weight="balanced"
            )
            guess[test] = tree.fit(feature[train], labels[train]).predict(feature[test])
        scores.append(f1_score(labels, guess, average="macro"))
    assert found.score == pytest.approx(np.mean(scores), abs=0.01)
    assert found.verdict == "fail"
    assert found.details["copies"] == len(text) - 900
    assert [(row["texts"], row["copies"]) for row in found.details["by_class"]] == [
        (int((y == k).sum()), int(times[y == k].sum() - (y == k).sum())) for k in (1, 0)
    ]


def test_one_text_of_many_copies_is_one_observation() -> None:
    """Half of the records are copies of one text: that it has a class says nothing of copies in
    general, and all texts tell as much as four of equal size.
    """
    y = np.tile([0, 1], 300)
    found = copies_finding(drawn_texts(y, np.where(np.arange(600) == 1, 600, 1)))
    assert found.verdict == "not-measured"
    assert "tell as much as 4.0 of equal size" in found.why


def test_no_copy_is_a_pass_and_a_few_are_no_alarm() -> None:
    y = np.tile([0, 1], 300)
    none = copies_finding(drawn_texts(y, np.ones(600, np.int64)))
    assert (none.verdict, none.score, none.details) == ("pass", None, {})
    few = copies_finding(drawn_texts(y, np.where(np.arange(600) % 100 == 1, 2, 1)))
    assert few.verdict == "pass"
    assert few.why.startswith(
        "6 of 606 records (1.0%) are copies of an earlier one with the same label; 100% of"
    )


def test_one_class_and_too_few_records_are_not_measured() -> None:
    assert copies_finding(drawn_texts([1] * 50, [2] * 50)).verdict == "not-measured"
    assert copies_finding(drawn_texts([0, 1] * 4, [2] * 8)).verdict == "not-measured"


def test_a_text_under_two_labels_keeps_one_record_of_each_in_one_group() -> None:
    data = drawn_texts([0, 1, 0, 1], [3, 3, 1, 1], group=[None, "a", None, "a"])
    same = data.records.with_columns(pl.Series("text", ["same"] * 6 + ["other", "third"]))
    subject = Subject.of(Dataset.build("d", same))
    kept = subject.distinct
    assert kept.ids == ["r0", "r3", "r6", "r7"]
    assert kept.groups[0] == kept.groups[1]  # one text
    assert kept.groups[1] == kept.groups[3]  # one `group`
    assert kept.groups[0] != kept.groups[2]
    assert kept.note == "Each text counts once: 4 copies are left out."
    assert kept.distinct is kept
    assert [label for label, n in Counter(kept.y.tolist()).items() if n != 2] == []


def test_what_belongs_to_a_copy_belongs_to_the_record_that_stays() -> None:
    """The copy that is left out was of a group: the first record of the text takes its place
    there.
    """
    data = drawn_texts([0, 0, 0], [1, 1, 1], group=[None, "a", "a"])
    same = data.records.with_columns(pl.Series("text", ["one", "One", "two"]))
    kept = Subject.of(Dataset.build("d", same)).distinct
    assert kept.ids == ["r0", "r2"]
    assert kept.groups[0] == kept.groups[1]


def test_records_without_a_text_are_no_copies() -> None:
    data = drawn_texts([0, 1] * 30, [1] * 60)
    subject = Subject.of(
        Dataset.build("d", data.records.with_columns(pl.lit(None, pl.String).alias("text")))
    )
    assert subject.distinct is subject
    assert copies_finding(subject.dataset).verdict == "not-measured"


SHAPES: dict[str, Callable[[np.random.Generator], tuple[Any, Any]]] = {
    "a long tail": lambda r: (r.integers(0, 2, 1_000), np.minimum(r.zipf(1.8, 1_000), 80)),
    "a rare class": lambda r: (r.random(1_500) < 0.15, np.minimum(r.zipf(1.8, 1_500), 80)),
    "a few of many copies": lambda r: (r.integers(0, 2, 800), np.where(r.random(800) < 0.02, r.integers(20, 81, 800), 1)),
    "a third": lambda r: (r.random(1_000) < 0.3, np.where(r.random(1_000) < 0.33, r.integers(1, 9, 1_000), 1)),
    "a few pairs": lambda r: (r.integers(0, 2, 1_000), np.where(r.random(1_000) < 0.02, 2, 1)),
    "few texts": lambda r: (r.integers(0, 2, 120), np.minimum(r.zipf(1.8, 120), 80)),
}  # fmt: skip


@pytest.mark.slow
def test_copies_that_say_nothing_of_the_label_raise_no_more_alarms_than_chance() -> None:
    """Texts get labels at random, 20 times for each of six shapes of copies: at 5%, more than 12 of
    120 are not chance.
    """
    found = [
        copies_finding(
            drawn_texts(
                *(np.asarray(part, np.int64) for part in draw(np.random.default_rng(seed)))
            ),
            seed,
        )
        for draw in SHAPES.values()
        for seed in range(20)
    ]
    assert sum(f.p is not None and f.p <= 0.05 for f in found) <= 12
    assert sum(f.verdict in ("fail", "warn") for f in found) <= 12
    assert sum(f.verdict == "fail" for f in found) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["covid19-br", "covid19-fake-news"])
def test_real_data_with_copies_of_one_class(name: str, real_data: Path) -> None:
    from claimlab.catalog.load import load

    # without its card, which a copy would not have either: ids count as published then
    data = Dataset.build(name, load(name, real_data / f"{name}.zip").records)
    before, after = (
        audit(d, checks=SHORTCUTS, debug=True) for d in (data, one_class_copied(data, 20))
    )
    assert verdicts(after) == verdicts(before)
    assert copies_finding(one_class_copied(data, 20)).verdict == "fail"
