"""How often two datasets disagree on the same text, and which of that is a floor for label noise:
counted by hand.
"""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.claims.conflicts import conflicts_in, disagreement
from claimlab.claims.front import overlap
from claimlab.claims.graph import graph_of
from claimlab.core.dataset import Dataset, Lineage

Rows = list[tuple[str, str | None, str]]  # text, label as the source wrote it, verdict
FAKE, REAL, HALF = ("Fake", "false"), ("Real", "true"), ("half", "mixed")


def dataset(name: str, rows: Rows) -> Dataset:
    columns = dict(zip(("text", "label_raw", "veracity"), zip(*rows, strict=True), strict=True))
    ids = [f"{name}-{i}" for i in range(len(rows))]
    frame = pl.DataFrame({"id": ids, **columns}, schema_overrides={"label_raw": pl.String})
    return Dataset.build(name, frame)


def claims(n: int, label: tuple[str | None, str], start: int = 0) -> Rows:
    return [(f"Claim number {i} of them all.", *label) for i in range(start, start + n)]


def counts(one: Rows, two: Rows) -> tuple[int, ...]:
    return counts_of(dataset("one", one), dataset("two", two))


def counts_of(one: Dataset, two: Dataset) -> tuple[int, ...]:
    """Claims, those that differ, of these true against false, dated apart, by another map."""
    return disagreement(graph_of([one, two])).drop("dataset", "other").row(0)


def test_true_against_false_is_a_floor_for_label_noise() -> None:
    """Of 40 claims ten are true against false and six mixed against true: a share of 16 of 40,
    and of the 80 labels on them at least ten, 12%, are wrong."""
    one = claims(40, REAL)
    two = claims(10, FAKE) + claims(6, HALF, 10) + claims(24, REAL, 16)
    assert counts(one, two) == (40, 16, 10, 0, 0)
    (said,) = [
        s for s in overlap([dataset("one", one), dataset("two", two)]).sentences() if "disa" in s
    ]
    assert said == (
        "one and two disagree on 16 of 40 claims with the same text (40%, 95% interval 26 to 55),"
        " on 10 as true against false: at least 12% of their labels on these claims are wrong, a"
        " floor for label noise."
    )


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (HALF, REAL),
        ((None, "true"), FAKE),
    ],
    ids=["mixed", "a label that the source did not write"],
)
def test_a_difference_of_label_maps_is_no_noise(
    mine: tuple[str | None, str], theirs: tuple[str | None, str]
) -> None:
    one, two = claims(25, mine), claims(25, theirs)
    assert counts(one, two) == (25, 25, 0, 0, 0)
    text = " ".join(overlap([dataset("one", one), dataset("two", two)]).sentences())
    assert "floor" not in text
    assert "never as true against false" in text


def test_a_label_that_means_two_things_elsewhere_spoils_the_map_of_both() -> None:
    """Half is mixed to one and false to the other: their other labels are not trusted either."""
    one = claims(9, REAL) + claims(1, HALF, 9)
    two = [*claims(9, FAKE), ("Other.", "HALF", "false")]
    assert counts(one, two) == (9, 9, 0, 0, 0)


def test_a_dataset_that_contradicts_itself_is_opposed_to_another() -> None:
    """One says true and false of the same text, the other true: one of three labels is wrong."""
    assert counts(claims(1, REAL) + claims(1, FAKE), claims(1, REAL)) == (1, 1, 1, 0, 0)


def mapped(name: str, rows: Rows, label_map: str) -> Dataset:
    made = dataset(name, rows)
    made.lineage = [Lineage(step="load", parameters={"map": f"{label_map}@1"})]
    return made


def test_one_label_of_two_meanings_is_another_map_by_name_and_the_rest_is_noise() -> None:
    """Twenty claims are barely true to both sources; of the 21st they wrote something else."""
    one = mapped("one", claims(20, ("barely-true", "true")) + claims(1, REAL, 20), "liar/cdl")
    two = mapped("two", claims(20, ("Barely true", "false")) + claims(1, FAKE, 20), "liar/a5")
    assert counts_of(one, two) == (21, 1, 0, 0, 20)
    said = overlap([one, two]).sentences()
    assert said[1:] == [
        "Another label map (liar/cdl and liar/a5), not noise: one and two give another label to 20"
        " of 21 claims with the same text, where their sources wrote the same. Load both with one"
        " map.",
        "one and two disagree on 1 of 21 claims with the same text (5%, 95% interval 1 to 23),"
        " never as true against false under one label map: no sign of label noise.",
    ]
    found = conflicts_in(graph_of([one, two]))
    assert [c.other_map for c in found.conflicts] == [False] + [True] * 20
    assert found.counts()["other_map"] == 20


@pytest.mark.parametrize("label", ["1", "True", "yes", "B"])
def test_a_flag_that_both_sources_wrote_is_no_map(label: str) -> None:
    """1 may be of `is_fake` here and of `verified` there: the datasets disagree."""
    one, two = claims(5, (label, "true")), claims(5, (label, "false"))
    assert counts(one, two) == (5, 5, 0, 0, 0)
