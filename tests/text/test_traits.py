from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

from claimlab.text.traits import as_numbers, lengths, links, shares, sites


def test_lengths_count_characters_and_words() -> None:
    assert lengths(pl.Series(["two words", "", None])).tolist() == [[9, 2], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("family", "name", "text", "share"),
    [
        ("punctuation", "exclamation marks", "ab!!", 0.5),
        ("case", "capitals", "ABcd", 0.5),
        ("case", "words in capitals", "AB c", 0.25),
        ("digits", "digits", "a123", 0.75),
    ],
)
def test_shares_are_of_characters(family: str, name: str, text: str, share: float) -> None:
    names, matrix = shares(pl.Series([text, None]), family)
    assert matrix[:, names.index(name)].tolist() == [share, 0.0]


def test_links_are_counted_up_to_five() -> None:
    many = " ".join(f"https://example.com/{i}" for i in range(9))
    assert links(pl.Series(["none", "see https://example.com/a", many, None])).tolist() == [
        [0, 0],
        [1, 1],
        [1, 5],
        [0, 0],
    ]


def test_the_site_is_the_records_own_before_a_cited_one() -> None:
    records = pl.DataFrame(
        {
            "url": ["https://www.example.org/x", None, None],
            "text": ["see https://example.com/a", "see https://example.com/a", "nothing"],
        }
    )
    assert sites(records).to_list() == ["example.org", "example.com", None]


def test_columns_are_numbers_only_where_they_hold_many() -> None:
    assert as_numbers(pl.Series([str(i) for i in range(30)])) is not None
    assert as_numbers(pl.Series([str(i % 3) for i in range(30)])) is None
    assert as_numbers(pl.Series(["a", *(str(i) for i in range(30))])) is None
    dates = as_numbers(pl.Series([date(2020, 1, 1 + i) for i in range(25)] + [None]))
    assert dates is not None
    assert np.isnan(dates.to_numpy()[-1])
