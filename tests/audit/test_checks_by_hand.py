"""Small data of which the answer of a check is known: counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.audit.advice import points_of
from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Baselines, Finding

TOWNS = ("Northport", "Eastham", "Westby", "Southwick", "Midford", "Overton", "Netherby", "Ashdale")


def text(i: int) -> str:
    town, other = TOWNS[i % 8], TOWNS[i // 8 % 8]
    return (
        f"Report {i * 7919}: the ferry from {town} to {other} carried {i * 31 + 5} people in {i}."
    )


def dataset(rows: list[dict[str, str]]) -> Dataset:
    return Dataset.build("by-hand", pl.DataFrame(rows))


def of(data: Dataset, check: str) -> list[Finding]:
    return [finding for finding in audit(data, checks=[check]).findings if finding.check == check]


def test_copies_in_dev_are_no_leak_into_test() -> None:
    """Ten of 40 test texts are in dev and three in train: 7.5% leaked, and of 40 dev records five
    have a copy in train."""
    texts = [text(i) for i in range(120)]
    train, dev, test = texts[:60], texts[60:100], texts[100:] + texts[60:70] + texts[:3]
    test += [text(i) for i in range(200, 207)]
    dev = dev[:35] + train[10:15]
    rows = [
        {"id": f"{side}-{i}", "text": words, "veracity": ("true", "false")[i % 2], "split": side}
        for side, part in (("train", train), ("dev", dev), ("test", test))
        for i, words in enumerate(part)
    ]
    assert (len(train), len(dev), len(test)) == (60, 40, 40)
    leak = next(
        f for f in of(dataset(rows), "near-duplicates") if f.feature == "across the given split"
    )
    assert (leak.details["leaked"], leak.details["share"]) == (3, pytest.approx(0.075))
    assert (leak.details["dev_leaked"], leak.details["dev_share"]) == (5, pytest.approx(0.125))
    assert leak.details["part"] == "test"


def test_ids_give_the_label_away_by_many_words() -> None:
    """Sixteen words in ids, each of one label and of 1 in 16 records: no four of them say much."""
    names = [f"{letter}post" for letter in "abcdefghijklmnop"]
    rows = [
        {
            "id": f"{names[i % 16]}-{i}",
            "text": text(i),
            "veracity": "true" if i % 16 % 3 == 0 else "false",
        }
        for i in range(480)
    ]
    (finding,) = [f for f in of(dataset(rows), "identifiers") if f.feature == "id"]
    assert finding.verdict == "fail"
    assert finding.score is not None
    assert finding.score > 0.98


@pytest.mark.parametrize(("difference", "points"), [(0.25, 25.0), (0.0, 0.0), (-0.3, 0.0)])
def test_a_score_below_chance_moves_no_points(difference: float, points: float) -> None:
    finding = Finding(
        check="length", protocol="fair", verdict="warn", score=0.5 + difference,
        difference=difference, baselines=Baselines(majority=0.5), why="So it was planted.",
    )  # fmt: skip
    assert points_of(finding) == pytest.approx(points)
