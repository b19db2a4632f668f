"""Which records a repair takes out, and what keeps whole groups on one side of a split."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.audit.fix import copies, labels_of, without
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.audit.views.compare import comparison
from claimlab.core.dataset import Dataset
from claimlab.core.stats.deal import deal
from claimlab.pages.blocks import Cell


def alike() -> Dataset:
    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c", "d", "e"],
            "text": ["same words here", "same words here", "Same  words here", "alone", None],
            "veracity": ["mixed", "unknown", "mixed", None, "true"],
        }
    )
    return Dataset.build("x", frame)


def test_records_of_other_verdicts_keep_their_own_copies() -> None:
    data = alike()
    reasons = copies(data.records.with_columns(labels_of(Subject.of(data))))
    assert reasons == {"c": "copy of an earlier record with the same label (a)"}


def test_taking_out_twice_keeps_what_was_taken_out_first() -> None:
    once = without(alike(), "copies", {"c": "a copy"}, "dropped", 0)
    twice = without(once, "copies", {"a": "another"}, "dropped", 0)
    assert twice.tables["dropped"]["id"].to_list() == ["c", "a"]
    assert twice.records["id"].to_list() == ["b", "d", "e"]
    assert [step.counts["records"] for step in twice.lineage[-2:]] == [4, 3]


def test_the_comparison_has_two_columns_of_verdicts() -> None:
    labels = ["true", "false"] * 60
    texts = [f"claim number {row // 2} of many" for row in range(120)]
    frame = pl.DataFrame({"id": range(120), "text": texts, "veracity": labels}).cast(pl.String)
    torn = Dataset.build("torn", frame)
    clean = Dataset.build("torn", frame.with_columns(text=pl.concat_str("text", "id")))
    audits = [audit(data, checks=["identical-texts"], debug=True) for data in (torn, clean)]
    table = comparison(*audits)
    (row,) = table.rows
    was, now = row[2], row[4]
    assert isinstance(was, Cell)
    assert isinstance(now, Cell)
    assert (was.text, now.text) == ("fail", "pass")


@pytest.mark.parametrize("seed", range(5))
def test_dealing_keeps_groups_whole_and_classes_even(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = (rng.random(4_000) < 0.1).astype(np.int64)
    groups = np.where(np.arange(4_000) < 300, 0, rng.integers(1, 1_500, 4_000))
    side = deal(y, groups, (0.7, 0.1, 0.2), seed)
    for group in np.unique(groups):
        assert len(set(side[groups == group])) == 1
    for k, share in enumerate((0.7, 0.1, 0.2)):
        assert (side == k).mean() == pytest.approx(share, abs=0.02)
        assert y[side == k].mean() == pytest.approx(y.mean(), abs=0.02)
