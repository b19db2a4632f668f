"""Repairing: what a split can remove is gone, every row is accounted for, and the same seed gives
the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts.planted import Truth, planted

from claimlab.audit.fix import Repaired, repair
from claimlab.audit.result import Audit, read_audits
from claimlab.audit.rule import AuditSettings
from claimlab.audit.run import audit
from claimlab.audit.views.compare import comparison, left_over
from claimlab.audit.views.page import REPORT, both
from claimlab.core.dataset import Dataset
from claimlab.core.record import validate
from claimlab.core.stats.deal import deal
from claimlab.pages.blocks import Cell, Items
from claimlab.pages.folder import fill

QUICK = AuditSettings(repeats=1)
LEAKS = ["near-duplicates", "identical-texts", "url-conflicts", "source"]


@pytest.fixture(scope="module")
def given() -> tuple[Dataset, Truth]:
    return planted()


@pytest.fixture(scope="module")
def repaired(given: tuple[Dataset, Truth]) -> Repaired:
    return repair(given[0], seed=3, split=True)


@pytest.fixture(scope="module")
def audits(given: tuple[Dataset, Truth], repaired: Repaired) -> tuple[Audit, Audit]:
    before = audit(given[0], checks=LEAKS, settings=QUICK, debug=True)
    return before, audit(repaired.dataset, checks=LEAKS, settings=QUICK, debug=True)


def test_every_row_is_kept_dropped_or_doubtful(
    given: tuple[Dataset, Truth], repaired: Repaired
) -> None:
    before, after = given[0].records, repaired.dataset
    parts = [after.records["id"], after.tables["dropped"]["id"], after.tables["doubtful"]["id"]]
    assert sorted(pl.concat(parts).to_list()) == sorted(before["id"].to_list())
    counts = after.lineage[-1].counts
    assert (
        counts["before"] == before.height == counts["kept"] + counts["dropped"] + counts["doubtful"]
    )
    assert sum(repaired.removed.values()) == counts["dropped"] + counts["doubtful"]
    validate(after.records)


def test_what_was_planted_is_taken_out_for_the_right_reason(
    given: tuple[Dataset, Truth], repaired: Repaired
) -> None:
    truth = given[1].records
    reasons = dict(repaired.dataset.tables["doubtful"].select("id", "reason").rows())
    assert {i for i, why in reasons.items() if "near-duplicate" in why} == set(
        truth["contradicting-near-duplicates"]
    )
    assert {i for i, why in reasons.items() if "URL" in why} == set(truth["url-under-both-labels"])
    copies = dict(repaired.dataset.tables["dropped"].select("id", "reason").rows())
    assert set(copies) <= set(truth["duplicates-across-splits"])
    assert len(copies) == len(truth["duplicates-across-splits"]) // 2
    kept = set(repaired.dataset.records["id"].to_list())
    assert all(why.split("(")[1].rstrip(")") in kept for why in copies.values()), (
        "a copy names the record that stays"
    )


def test_leaks_and_contradictions_pass_afterwards_and_shortcuts_stay(
    audits: tuple[Audit, Audit],
) -> None:
    before, after = audits
    grave = {(f.check, f.feature) for f in before.findings if f.verdict == "fail"}
    assert {
        ("near-duplicates", "across the given split"),
        ("url-conflicts", None),
        ("source", "source"),
    } <= grave
    assert {f.check for f in after.findings if f.verdict in ("fail", "warn")} == {"source"}
    (items,) = (b for b in left_over(after).blocks if isinstance(b, Items))
    assert [i.split(" ")[0] for i in items.items] == ["Source"]


def test_the_comparison_has_two_columns_of_verdicts(audits: tuple[Audit, Audit]) -> None:
    table = comparison(*audits)
    verdicts = {str(row[1]): (row[2], row[4]) for row in table.rows}
    was, now = verdicts["url-conflicts"]
    assert isinstance(was, Cell)
    assert isinstance(now, Cell)
    assert (was.text, now.text) == ("fail", "pass")


def test_groups_stay_whole_and_shares_hold(repaired: Repaired) -> None:
    records = repaired.dataset.records
    assert records.group_by("group").agg(pl.col("split").n_unique())["split"].max() == 1
    share = records["split"].value_counts(normalize=True)
    by_side = dict(zip(share["split"].to_list(), share["proportion"].to_list(), strict=True))
    assert by_side["train"] == pytest.approx(0.7, abs=0.02)
    assert by_side["test"] == pytest.approx(0.2, abs=0.02)
    lean = records.group_by("split").agg((pl.col("veracity") == "true").mean().alias("true"))
    assert (lean["true"] - 0.5).abs().max() < 0.05  # type: ignore[operator]


def test_what_was_torn_apart_is_counted(given: tuple[Dataset, Truth], repaired: Repaired) -> None:
    event = dict(given[0].records.select("id", "group").rows())
    originals = given[1].records["duplicates-across-splits"][::2]
    assert repaired.parted == len({event[i] for i in originals}), (
        "a copy was planted on another side for each event"
    )


def test_changes_are_logged(given: tuple[Dataset, Truth], repaired: Repaired) -> None:
    old = dict(given[0].records.select("id", "split").rows())
    new = dict(repaired.dataset.records.select("id", "split").rows())
    log = {row[0]: (row[2], row[3]) for row in repaired.dataset.tables["changes"].rows()}
    assert log == {i: (old[i], s) for i, s in new.items() if old[i] != s}


@pytest.mark.slow
def test_same_seed_same_bytes_and_another_seed_another_split(
    given: tuple[Dataset, Truth], audits: tuple[Audit, Audit], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        repaired = repair(given[0], seed=3, split=True)
        (tmp_path / name).mkdir()
        fill(both(repaired, *audits), tmp_path / name / REPORT)
        repaired.dataset.write_into(tmp_path / name)
    files = sorted(
        p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()
    )
    assert Path("records.parquet") in files
    assert Path("report/audit.json") in files
    assert all(
        (tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files
    )
    assert [a.dataset for a in read_audits(tmp_path / "one" / "report")] == ["planted", "planted"]
    page = (tmp_path / "one" / "report" / "index.html").read_text(encoding="utf-8")
    assert "What a split cannot remove" in page
    again = Dataset.open(tmp_path / "one")
    assert again.lineage[-1].step == "fix"
    other = repair(given[0], seed=4, split=True).dataset.records
    assert other["split"].to_list() != again.records["split"].to_list()
    assert other["id"].to_list() == again.records["id"].to_list()


def test_repairing_twice_keeps_what_was_taken_out_first(repaired: Repaired) -> None:
    again = repair(repaired.dataset, seed=3)
    assert again.removed == {}
    assert again.dataset.tables["dropped"].height == repaired.dataset.tables["dropped"].height
    assert len(again.dataset.lineage) == len(repaired.dataset.lineage) + 1


def test_rows_of_other_verdicts_keep_their_own_copies() -> None:
    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c", "d", "e"],
            "text": ["same words here", "same words here", "Same  words here", "alone", None],
            "veracity": ["mixed", "unknown", "mixed", None, "true"],
        }
    )
    done = repair(Dataset.build("x", frame))
    assert done.dataset.records["id"].to_list() == ["a", "b", "d", "e"]
    assert done.dataset.tables["dropped"]["id"].to_list() == ["c"]
    sides = dict(done.dataset.records.select("id", "split").rows())
    assert sides["a"] == sides["b"], "the same text stays on one side whatever its verdict"


@pytest.mark.parametrize("seed", range(5))
def test_dealing_keeps_groups_whole_and_classes_even(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = (rng.random(4_000) < 0.1).astype(np.int64)
    groups = np.where(np.arange(4_000) < 300, 0, rng.integers(1, 1_500, 4_000))
    side = deal(y, groups, (0.7, 0.1, 0.2), seed)
    for g in np.unique(groups):
        assert len(set(side[groups == g])) == 1
    for k, share in enumerate((0.7, 0.1, 0.2)):
        assert (side == k).mean() == pytest.approx(share, abs=0.02)
        assert y[side == k].mean() == pytest.approx(y.mean(), abs=0.02)
