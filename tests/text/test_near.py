"""Texts that are nearly the same: which of them claim different things."""

from __future__ import annotations

import pytest

from claimlab.text.near import other_claim

FERRY = "The ferry to Northport carries 40 cars and does not sail in winter"


@pytest.mark.parametrize(
    ("other", "language"),
    [
        (FERRY.replace("40", "41"), "eng"),
        (FERRY.replace("Northport", "Southport"), "eng"),
        (FERRY.replace("does not sail", "sails"), "eng"),
        (FERRY.replace("carries", "never carries"), "eng"),
        (FERRY.replace("winter", "summer"), "eng"),
        (FERRY.replace("ferry", "rusty ferry"), "eng"),
        (FERRY.replace("cars", "blue cars"), "eng"),
        (FERRY + " of 1931", "eng"),
        (FERRY.replace("40", "two"), "eng"),
        (FERRY.replace("sail", "float"), None),
    ],
)
def test_another_number_name_word_or_negation_makes_another_claim(
    other: str, language: str | None
) -> None:
    assert other_claim(FERRY, other, language)
    assert other_claim(other, FERRY, language)


@pytest.mark.parametrize(
    "other",
    [
        FERRY.upper() + "!",
        FERRY.replace("cars", "car"),
        FERRY.replace("40 cars", "some 40 cars"),  # a short stop word
        FERRY + " - Northport Times",
        "BREAKING: " + FERRY,
        "\u00d2" + FERRY + "\u00d3",  # quotation marks of a wrong code page
        FERRY.replace("The ferry", "A ferry"),
        FERRY.replace("carries", "carried"),
    ],
)
def test_spelling_forms_and_what_is_added_at_the_ends_make_none(other: str) -> None:
    assert not other_claim(FERRY, other, "eng")
    assert not other_claim(other, FERRY, "eng")


def test_a_damaged_apostrophe_is_no_negation_less() -> None:
    said = "We don\u2019t have tests"
    assert not other_claim(said, "We don\u00d5t have tests", "eng")
    assert not other_claim(said, "we dont have tests", "eng")
    assert other_claim(said, "We do have tests", "eng")


def test_a_negation_in_another_language_and_script() -> None:
    assert other_claim("A vacina causa febre", "A vacina não causa febre", "por")
    assert other_claim("疫苗会致癌", "疫苗不会致癌", "zho")
