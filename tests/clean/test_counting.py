"""Counting rules: numbers that can be counted by hand."""

from __future__ import annotations

from typing import get_args

import polars as pl
import pytest

from claimlab.clean.counting import Counting, addresses, measure
from claimlab.clean.front import clean
from claimlab.clean.recipe import parse_recipe
from claimlab.clean.statistics import describe, text_statistics
from claimlab.core.dataset import Dataset


@pytest.mark.parametrize(
    ("text", "words", "sentences", "per_sentence"),
    [
        ("The ferry sank", 3, 1, 3),
        ("The ferry sank.", 4, 1, 4),  # the full stop, set apart and deleted, leaves an empty piece
        (
            "The ferry sank. Nobody saw it.",
            8 - 1,
            2,
            4,
        ),  # the one within the text falls between two blanks
        (
            "Sank!!! Nobody saw",
            3,
            4,
            (2 + 1 + 1 + 2) / 4,
        ),  # the mark that is set apart, the next, and the rest
        ("Sank… “really”", 2, 1, 2),
        ("Sank (at last.) Nobody saw", 5, 2, 3),
        ("See https://a.example/x or bridge.example.org", 2, 1, 2),
    ],
)
def test_pieces(text: str, words: int, sentences: int, per_sentence: float) -> None:
    (row,) = measure(pl.Series([text]), "pieces").iter_rows(named=True)
    assert (row["words"], row["sentences"]) == (words, sentences)
    assert row["words_per_sentence"] == pytest.approx(per_sentence)


def test_a_bold_url_is_no_url_under_pieces() -> None:
    texts = pl.Series(["*https://a.example/x* look", "see https://a.example/x)"])
    assert measure(texts, "pieces")["url"].to_list() == [False, True]
    assert measure(texts, "plain")["url"].to_list() == [True, True]
    assert addresses(texts, "pieces").to_list() == [[], ["https://a.example/x"]]


@pytest.mark.parametrize("counting", get_args(Counting))
def test_null_is_null_and_an_empty_text_breaks_nothing(counting: str) -> None:
    null, empty = measure(pl.Series([None, ""], dtype=pl.String), counting).iter_rows()  # type: ignore[arg-type]
    assert set(null) == {None}
    assert empty[0] is False


def test_a_recipe_may_describe_before_labels_change() -> None:
    rows = [
        {"id": "a", "text": "The ferry sank.", "veracity": "true", "url": "https://example.org/a"},
        {"id": "b", "text": "It sank"},
    ]
    data = Dataset.build("made-up", pl.DataFrame(rows))
    recipe = parse_recipe(
        """
        [[steps]]
        step = "describe"
        counting = "pieces"
        [[steps]]
        step = "missing-value"
        columns = ["url"]
        """,
        "made up",
    )
    cleaned = clean(data, recipe).dataset
    assert describe(cleaned).texts.equals(text_statistics(data.records, counting="pieces"))
    assert describe(cleaned).texts["words"].to_list() == [4.0]
    later = clean(cleaned, parse_recipe('[[steps]]\nstep = "only-url"', "made up")).dataset
    assert describe(later).texts["words"].to_list() == [3.0], (
        "what an earlier run described is not taken for this one"
    )
