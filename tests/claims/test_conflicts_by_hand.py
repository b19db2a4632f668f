"""Days, near copies and runs of words at their boundaries: worked out by hand."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from claimlab.claims.conflicts import Conflict, ConflictSide, conflicts_in
from claimlab.claims.contamination.completion import Half, run_share
from claimlab.claims.contamination.grams import gram_hashes
from claimlab.claims.graph import graph_of
from claimlab.core.dataset import Dataset


def side(veracity: str, first: date | None, last: date | None) -> ConflictSide:
    return ConflictSide("one", veracity, (veracity,), "A text.", 2, ("1", "2"), first, last)


MAY, JUNE = date(2020, 5, 31), date(2020, 6, 30)  # 30 days apart


@pytest.mark.parametrize(
    ("days", "others", "apart"),
    [
        ((date(2020, 1, 1), MAY), (JUNE, JUNE), False),
        ((date(2020, 1, 1), MAY), (date(2020, 7, 1), JUNE), True),
        ((date(2020, 1, 1), JUNE), (date(2020, 6, 1), JUNE), False),
        ((date(2020, 8, 1), date(2020, 9, 1)), (MAY, JUNE), True),
        ((date(2020, 7, 30), date(2020, 9, 1)), (MAY, JUNE), False),
        ((MAY, MAY), (None, None), False),
    ],
    ids=["30 days", "31 days", "first days far, last near", "before", "30 days before", "no day"],
)
def test_sides_are_apart_from_the_last_day_of_one_to_the_first_of_the_other(
    days: tuple[date, date], others: tuple[date | None, date | None], apart: bool
) -> None:
    conflict = Conflict(1.0, (side("true", *days), side("false", *others)))
    assert conflict.dated_apart is apart


def torn(name: str, text: str) -> Dataset:
    rows = {
        "id": [f"{name}-true", f"{name}-false"],
        "text": [text, text],
        "label_raw": ["T", "F"],
        "veracity": ["true", "false"],
    }
    return Dataset.build(name, pl.DataFrame(rows))


def test_near_copies_that_are_both_torn_alike_are_a_conflict() -> None:
    """Either text is true and false at once: each is a conflict, and so are the two together."""
    text = "The old stone bridge at the harbour of Northport opened to traffic in 1931."
    longer = f"{text[:-1]}, they say."
    found = conflicts_in(graph_of([torn("one", text), torn("two", longer)]))
    assert [len(conflict.sides) for conflict in found.conflicts] == [4, 2, 2]
    assert [conflict.across for conflict in found.conflicts] == [True, False, False]
    assert found.counts()["conflicts"] == 3


def words(n: int, name: str = "w") -> list[str]:
    return [f"{name}{i}" for i in range(n)]


@pytest.mark.parametrize(("length", "runs"), [(7, 0), (8, 1), (9, 2), (13, 6)])
def test_a_text_has_a_run_of_eight_words_from_every_word_that_seven_follow(
    length: int, runs: int
) -> None:
    hashes, rows = gram_hashes(pl.Series([words(3), words(length)]), 8)
    assert len(hashes) == len(set(hashes.tolist())) == runs
    assert rows.tolist() == [1] * runs


@pytest.mark.parametrize(("repeated", "counts"), [(7, False), (8, True)])
def test_a_completion_counts_from_eight_words_in_a_row(repeated: int, counts: bool) -> None:
    """Of the 20 words of a second half a reply repeats seven, or eight."""
    half = Half("1", None, "eng", "", words(20), [])
    reply = [*words(5, "other"), *words(20)[4 : 4 + repeated], *words(5, "else")]
    assert run_share(reply, half) == (pytest.approx(repeated / 20), counts)


def test_what_the_first_half_has_as_well_was_not_remembered() -> None:
    half = Half("1", None, "eng", "", words(20), words(20))
    assert run_share(words(20), half)[1] is False
