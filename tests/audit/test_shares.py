"""Checks that count: which records, of how many, and when a share is surely too large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from claimlab.audit.checks import near_duplicates
from claimlab.audit.checks.giveaways import one_sided
from claimlab.audit.checks.table import purity
from claimlab.audit.fair import deal_of
from claimlab.audit.rule import AuditSettings, Context, ShareRule
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding, Verdict

LETTERS = np.random.default_rng(0).choice(list("abcdefghijklmnopqrstuvwxyz"), (500, 8, 6))
TEXTS = [" ".join("".join(word) for word in text) for text in LETTERS]  # no two alike


def rows(splits: Sequence[str | None], copies: dict[int, int] | None = None) -> Dataset:
    """A text for each split, labels in turn; `copies` says which row nearly repeats which, with its
    label.
    """
    texts, labels = TEXTS[: len(splits)], ["true", "false"] * len(splits)
    for row, first in (copies or {}).items():
        texts[row], labels[row] = f"{texts[first]}s", labels[first]
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(len(splits))],
            "text": texts,
            "veracity": labels[: len(splits)],
            "split": splits,
        },
        schema_overrides={"split": pl.String},
    )
    return Dataset.build("counted", frame)


def leaks(data: Dataset) -> Finding:
    (found,) = [
        f
        for f in audit(data, checks=["near-duplicates"], debug=True).findings
        if "across" in str(f.feature)
    ]
    return found


@pytest.mark.parametrize(
    ("hits", "n", "verdict"),
    [
        (0, 27, "pass"), (0, 10_000, "pass"), (1, 27, "warn"), (1, 64, "warn"), (10, 1_000, "warn"), (16, 1_016, "warn"),
        (18, 1_000, "fail"), (4, 27, "fail"), (1, 10_000, "warn"),
    ],
)  # fmt: skip
def test_a_drawn_share_fails_where_it_is_surely_above_the_limit(
    hits: int, n: int, verdict: Verdict
) -> None:
    assert ShareRule(fail=0.01).verdict(hits, n, drawn=True) == verdict


@pytest.mark.parametrize(
    ("hits", "n", "verdict"),
    [(0, 27, "pass"), (1, 27, "fail"), (1, 100, "warn"), (10, 1_000, "warn"), (11, 1_000, "fail")],
)
def test_a_share_that_was_counted_has_no_interval(hits: int, n: int, verdict: Verdict) -> None:
    rule = ShareRule(fail=0.01)
    assert rule.verdict(hits, n) == verdict
    assert rule.shown(hits, n) == f"{100 * hits / n:.1f}%"
    assert rule.details(hits, n) == {"share": hits / n, "share_interval": None}


@pytest.mark.parametrize(
    ("hits", "n", "verdict"),
    [(0, 20, "inconclusive"), (0, 300, "pass"), (9, 300, "warn"), (40, 300, "fail")],
)
def test_a_share_with_two_limits(hits: int, n: int, verdict: Verdict) -> None:
    assert ShareRule(fail=0.05, warn=0.01).verdict(hits, n, drawn=True) == verdict


def test_leaks_of_a_given_split_are_a_census() -> None:
    found = leaks(rows(["train"] * 100 + ["test"] * 27, {110: 3}))
    assert (found.verdict, found.details["leaked"]) == ("fail", 1)
    assert "1 of 27 test records (3.7%) have" in found.why
    assert found.details["share_interval"] is None


def test_leaks_of_a_drawn_split_have_an_interval() -> None:
    found = leaks(rows([None] * 200, {199: 0}))
    assert found.details["drawn"]
    assert "95% interval" in found.why
    low, high = found.details["share_interval"]
    assert low <= found.details["share"] < high


def test_leaks_are_a_share_of_the_test_records() -> None:
    """Of all 140 records, or of all that are not in train, the share would be another."""
    found = leaks(rows(["train"] * 100 + ["test"] * 40, {120: 0, 121: 1, 122: 2, 123: 3, 10: 11}))
    assert (found.n, found.details["leaked"], found.details["share"]) == (40, 4, pytest.approx(0.1))
    assert found.verdict == "fail"
    assert found.records == ["r120", "r121", "r122", "r123"]


def test_dev_is_not_test() -> None:
    split = ["train"] * 100 + ["dev"] * 30 + ["test"] * 40
    found = leaks(rows(split, {105: 0, 106: 1, 107: 2, 108: 3, 109: 4}))
    assert (found.verdict, found.n, found.details["leaked"], found.details["dev_leaked"]) == (
        "pass",
        40,
        0,
        5,
    )
    assert "0 of 40 test records" in found.why
    assert found.why.endswith("Of 30 dev records, 5 (16.7%) have one.")


@pytest.mark.parametrize(("part", "name"), [("dev", "dev"), ("gold", "held-out")])
def test_what_is_tested_without_a_test_part_is_said(part: str, name: str) -> None:
    found = leaks(rows(["train"] * 100 + [part] * 30, {105: 0}))
    assert f"own split, which has no test part, 1 of 30 {name} records" in found.why


def test_paraphrases_are_sought_for_the_same_records() -> None:
    data = rows(["train"] * 100 + ["dev"] * 30 + ["test"] * 40)
    side = near_duplicates.sides(Subject.of(data))
    assert (side.train.sum(), side.test.sum(), side.dev.sum()) == (100, 40, 30)
    changed = audit(data, checks=["paraphrases"], debug=True).findings[0]
    assert changed.n == 40
    assert "of 40 test records" in changed.why


@pytest.mark.parametrize(("n", "verdict"), [(200, "warn"), (50, "fail")])
def test_conflicts_fail_where_they_are_many(n: int, verdict: Verdict) -> None:
    data = rows([None] * n)
    same = data.records.with_columns(pl.Series("text", [TEXTS[0], TEXTS[0], *TEXTS[2:n]]))
    (found,) = audit(Dataset.build("d", same), checks=["identical-texts"], debug=True).findings
    assert (found.verdict, found.details["conflicting_records"]) == (verdict, 2)
    assert f"in 2 of {n} records ({200 / n:.1f}%; fail" in found.why


def test_one_sided_words_are_chosen_on_the_training_folds() -> None:
    """Each word is in one fold only: where that fold is tested the word is not known, and elsewhere
    it is not found.
    """
    context = Context(settings=AuditSettings(few=3, many=3))
    subject = Subject.of(rows([None] * 400), context=context)
    fold = deal_of(subject).fold[0]
    columns = [(fold == k) & (subject.y == label) for k in range(4) for label in (0, 1)]
    measured = one_sided(subject, csr_matrix(np.stack(columns, axis=1).astype(np.uint8)))
    assert (measured.held, measured.right, measured.excess) == (0, 0, 0.0)
    everywhere = csr_matrix((subject.y == 1)[:, None].astype(np.uint8))
    assert one_sided(subject, everywhere).held == int(subject.y.sum()), (
        "or nothing would ever be found"
    )


def test_purity_counts_values_that_recur() -> None:
    subject = Subject.of(rows([None] * 40))  # labels in turn
    values = pl.Series(
        [
            "one class" if i in (0, 2, 4) else "both" if i in (5, 6) else f"once {i}"
            for i in range(40)
        ]
    )
    assert purity(subject, values) == (2, 1)
