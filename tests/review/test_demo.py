"""The review stage of the demo: what was planted is found, decided and gone."""

from __future__ import annotations

from pathlib import Path

from parts.planted import clean_twin, planted

from claimlab.cli.tour import Tour, run_review
from claimlab.core.dataset import Dataset
from claimlab.review.review import Review


def test_invented_annotators_decide_the_planted_pairs_and_the_finding_is_gone(
    tmp_path: Path,
) -> None:
    data, truth = planted(size=300)
    data.write(tmp_path / "planted")
    tour = Tour(tmp_path, 20, data, clean_twin(size=300), truth)
    run_review(tour)
    assert tour.reviewed["finding"] == "pass"
    assert 0 < tour.reviewed["adjudicated"] < tour.reviewed["items"]
    review = Review.open(tmp_path / "review")
    progress = review.progress()
    assert progress.items == {"agreed": 21, "final": 3}
    agreement = review.agreement().rows.row(0, named=True)
    assert (round(agreement["percent"], 3), round(agreement["alpha"], 2)) == (0.875, 0.74), (
        "1 - (6 / 48) / (2 * 19 * 29 / 48 / 47)"
    )
    assert progress.settled == progress.total
    assert all("invented" in name for name in progress.table["name"])
    reviewed = Dataset.open(tmp_path / "reviewed")
    pairs = truth.records["contradicting-near-duplicates"]
    assert len(set(pairs[::2]) & set(reviewed.records["id"])) == 16, (
        "of 24 pairs one is kept, unless both were removed"
    )
    assert not set(pairs[1::2]) & set(reviewed.records["id"])
    review.close()
    assert not (tmp_path / "review" / "review.sqlite-wal").exists()
