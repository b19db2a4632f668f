"""What an audit measures by: whole publishers, where labels were given to publishers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from claimlab.audit.fair import deal_of
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

ALARMS = ("warn", "fail")
WORDS = np.array([f"word{i}" for i in range(60)])
CHECKS = ["length", "keywords", "surface", "giveaways", "label-errors", "language", "source"]


def of_publishers(
    sizes: Sequence[int], *, seed: int = 0, style: float = 0.6, shortcut: float = 0.0
) -> Dataset:
    """Records of publishers, each of which writes in its own way (long or short, loud or not) and
    in one language; labels are dealt to publishers at random, half of each. A share `shortcut` of
    the false ones is longer by thirty words.
    """
    rng = np.random.default_rng(seed)
    false = rng.permutation(np.arange(len(sizes)) % 2 == 1)
    rows = []
    for number, (size, lie) in enumerate(zip(sizes, false, strict=True)):
        length, loud = rng.normal(0, style), rng.random()
        favourites = rng.choice(WORDS, 6)
        for i in range(size):
            words = rng.choice(WORDS, max(3, int(14 * np.exp(length + rng.normal(0, 0.3)))))
            more = list(rng.choice(WORDS, 30)) if lie and rng.random() < shortcut else []
            text = " ".join([*words, *more, rng.choice(favourites), f"n{number}x{i}"])
            rows.append(
                {
                    "id": f"r{number}-{i}",
                    "text": f"{text}!" if rng.random() < loud else text,
                    "veracity": "false" if lie else "true",
                    "source": f"publisher {number}",
                    "language": ("eng", "deu", "por")[number % 3],
                }
            )
    return Dataset.build("dealt", pl.DataFrame(rows).sample(fraction=1.0, shuffle=True, seed=seed))


def findings(data: Dataset, checks: Sequence[str] = CHECKS, seed: int = 0) -> list[Finding]:
    return audit(data, checks=checks, seed=seed, debug=True).findings


def test_labels_of_publishers_make_the_publisher_the_unit() -> None:
    subject = Subject.of(of_publishers([40] * 14))
    assert subject.units.words == "560 records of 14 publishers (largest 7%)"
    deal = deal_of(subject)
    for number in range(3):
        labels, fold = deal.permuted(number)
        for unit in range(14):
            of_unit = subject.units.codes == unit
            assert len(np.unique(labels[of_unit])) == 1  # labels move as a whole
            assert len(np.unique(fold[0][of_unit])) == 1


def test_copies_do_not_decide_the_level_of_labels() -> None:
    """Labels are of single records; copies of a record share author and label."""
    rng = np.random.default_rng(1)
    rows = [
        {
            "id": f"r{i}-{copy}",
            "text": f"text number {i}",
            "veracity": ("true", "false")[int(label)],
            "author": f"author {i % 40}",
        }
        for i, label in enumerate(rng.integers(0, 2, 200))
        for copy in range(20 if i < 40 else 1)
    ]
    assert Subject.of(Dataset.build("copied", pl.DataFrame(rows))).given is None


def test_labels_of_single_records_leave_groups_the_unit() -> None:
    rng = np.random.default_rng(2)
    frame = {
        "id": [f"r{i}" for i in range(300)],
        "text": [f"text number {i}" for i in range(300)],
        "veracity": rng.choice(["true", "false"], 300),
        "source": [f"publisher {i % 12}" for i in range(300)],
        "group": [f"event {i % 100}" for i in range(300)],
    }
    subject = Subject.of(Dataset.build("single", pl.DataFrame(frame)))
    assert subject.given is None
    assert (subject.units.column, subject.units.count) == ("group", 100)


def test_records_without_a_publisher_stay_with_their_group() -> None:
    data = of_publishers([30] * 12)
    rows = data.records.with_row_index("n")
    none = pl.col("n") < 40
    source = pl.when(none).then(None).otherwise("source").alias("source")
    group = pl.when(none).then(pl.format("event {}", pl.col("n") // 4)).alias("group")
    subject = Subject.of(Dataset.build("partly", rows.with_columns(source, group).drop("n")))
    assert subject.given is not None
    assert subject.given.count == 12 + 10


def test_few_publishers_are_not_measured_but_what_they_are_is() -> None:
    found = {f.check: f for f in findings(of_publishers([100] * 4))}
    for check in ("length", "keywords", "giveaways", "label-errors", "language"):
        assert found[check].verdict == "not-measured", check
        assert "4 publishers" in found[check].why
    assert found["source"].verdict == "fail"


def test_a_dominating_publisher_counts_for_what_it_tells() -> None:
    (length,) = findings(of_publishers([600, *[20] * 13]), ["length"])
    assert length.verdict == "not-measured"
    assert "14 publishers" in length.why
    assert "tell as much as 2." in length.why


def test_a_planted_shortcut_is_found_among_few_publishers_and_marked() -> None:
    (length,) = findings(of_publishers([50] * 14, shortcut=0.95, style=0.1), ["length"])
    assert length.verdict == "fail"
    assert "over 700 records of 14 publishers (largest 7%), few units" in length.why
    assert length.details["units"]["units"] == 14
    # 3432 ways to deal labels to 14 publishers: no smaller p can be told from chance
    assert length.p == pytest.approx(1 / 3432)


@pytest.mark.slow
def test_labels_dealt_to_publishers_are_no_alarm() -> None:
    """Each publisher writes in its own way, so records are far from independent."""
    sizes = [100, 90, 80, 70, 60, 60, 50, 50, 40, 40, 30, 30, 30, 20]
    names = [name for name in CHECKS if name != "source"]
    fails, checked = 0, 0
    for seed in range(12):
        found = findings(of_publishers(sizes, seed=seed), names, seed)
        measured = [f for f in found if f.p_adjusted is not None or f.check == "label-errors"]
        checked += len(measured)
        fails += sum(f.verdict in ALARMS for f in measured)
    assert checked >= 60
    assert fails <= 0.05 * checked
