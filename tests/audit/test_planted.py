"""Each planted defect is found, the clean twin is clean, and labels drawn by lot never fail."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from parts.planted import DEFECTS, clean_twin, planted

from claimlab.audit.result import Audit
from claimlab.audit.rule import AuditSettings
from claimlab.audit.run import audit
from claimlab.cli.tour_page import FOUND_BY_AUDIT, findings_of
from claimlab.core.dataset import Dataset


@pytest.mark.parametrize("defect", FOUND_BY_AUDIT)
def test_each_planted_defect_is_found(defect: str, planted_audit: Audit) -> None:
    assert defect in DEFECTS
    check, feature = FOUND_BY_AUDIT[defect]
    assert "fail" in {f.verdict for f in findings_of(planted_audit, check, feature)}, findings_of(
        planted_audit, check, feature
    )


def test_the_giveaway_words_are_named(planted_audit: Audit) -> None:
    truth = planted()[1]
    (giveaways,) = findings_of(planted_audit, "giveaways", None)
    assert set(truth.values["keyword"]) <= {row["word"] for row in giveaways.details["words"]}


def test_conflicting_records_are_pointed_at(planted_audit: Audit) -> None:
    truth = planted()[1]
    (urls,) = findings_of(planted_audit, "url-conflicts", None)
    assert set(urls.records) == set(truth.records["url-under-both-labels"])
    (torn,) = findings_of(planted_audit, "near-duplicates", "under different labels")
    assert set(truth.records["contradicting-near-duplicates"]) <= set(torn.records)
    (leaks,) = findings_of(planted_audit, "near-duplicates", "across the given split")
    across = leaks.details["leaked"] + leaks.details["dev_leaked"]
    assert across >= len(truth.records["duplicates-across-splits"]) // 2


@pytest.mark.slow
def test_the_clean_twin_is_clean(clean_audit: Audit) -> None:
    assert [f for f in clean_audit.findings if f.verdict in ("fail", "warn")] == []
    assert sum(f.verdict == "pass" for f in clean_audit.findings) >= 15


@pytest.mark.slow
def test_labels_drawn_by_lot_never_fail_in_twenty_seeds() -> None:
    data, _ = planted()
    for seed in range(20):
        lots = np.random.default_rng(seed).permutation(data.records["veracity"].to_numpy())
        shuffled = Dataset.build("lots", data.records.with_columns(pl.Series("veracity", lots)))
        checks = [
            "keywords",
            "time",
            "length",
            "surface",
            "source",
            "author",
            "topic",
            "event",
            "language",
            "url",
            "giveaways",
        ]
        result = audit(
            shuffled, checks=checks, seed=seed, settings=AuditSettings(repeats=2), debug=True
        )
        assert [f for f in result.findings if f.verdict == "fail"] == [], seed


def test_a_fault_in_a_check_is_told_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from claimlab.audit.checks.table_trees import TreeCheck

    def broken(*_: object) -> list[object]:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(TreeCheck, "run", broken)
    result = audit(clean_twin(size=120), checks=["length", "one-class"])
    assert [f.verdict for f in result.findings] == ["not-measured", "pass"]
    assert "ZeroDivisionError" in result.findings[0].why
    with pytest.raises(ZeroDivisionError):
        audit(clean_twin(size=120), checks=["length"], debug=True)


def test_same_seed_same_findings() -> None:
    data = clean_twin(size=200)
    one, two = (audit(data, checks=["keywords", "source"], seed=4) for _ in range(2))
    assert one.to_json() == two.to_json()
