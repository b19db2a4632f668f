"""How many of the words that others rate with the general map knows, counted from a list of them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from claimlab.core.labels import combined, general, load_map

WORDS = tomllib.loads((Path(__file__).parent / "rating_words.toml").read_text(encoding="utf-8"))
ENOUGH = 0.9  # of the words of a list

# Words that do not say whether the claim is true: names of a topic, a rating and a word glued
# together, half of a word.
LEFT_UNKNOWN = {
    "non conspiracy", "not misinformation", "non-rumor", "counter-misinformation",
    "5g covid conspiracy", "other conspiracy", "not_supported", "understatedexaggerated",
    "incorrectly", "satiremanipulated", "satiremanipulated image", "fal", "misleading 3.5",
    "this altered photo does not show the arrest of ethiopia’s former head of intelligence",
    "falsethis image shows the memorial service for lol mahamat choua, chad’s fourth president who"
    " died in 2019",
    "fiction &amp; satire", "fiction & satire", "calling out or correction",
    "truth fiction & unproven", "reported as truth & disputed", "Presque", "إثارة", "疑似",
}  # fmt: skip


def unknown(words: list[str]) -> list[str]:
    return [word for word in words if general().verdict(word) is None]


def test_nine_in_ten_of_the_guides_label_strings_are_known() -> None:
    words = [word for listed in WORDS["guide"].values() for word in listed]
    assert len(words) == len(set(words)) == 257
    assert len(words) - len(unknown(words)) >= ENOUGH * (len(words) + 1)
    assert set(unknown(words)) <= LEFT_UNKNOWN


@pytest.mark.parametrize("language", WORDS["claimreview"])
def test_nine_in_ten_of_the_usual_ratings_of_a_language_are_known(language: str) -> None:
    words = WORDS["claimreview"][language]["ratings"]
    assert len(words) - len(unknown(words)) >= ENOUGH * len(words)
    assert set(unknown(words)) <= LEFT_UNKNOWN


def test_the_ratings_of_twelve_languages_are_counted() -> None:
    assert len(WORDS["claimreview"]) == 12


def test_true_is_never_read_as_false_nor_false_as_true() -> None:
    """The guide and the house differ on mixed and unknown; they never contradict each other, but
    for "barely true" (PolitiFact's name of mostly false until 2011).
    """
    opposed = [
        word
        for ours, theirs in (("true", "false"), ("false", "true"))
        for word in WORDS["guide"][theirs]
        if general().verdict(word) == ours
    ]
    assert opposed == ["barely-true"]


@pytest.mark.parametrize(
    ("rating", "veracity"),
    [
        ("truth & fiction", "mixed"),
        ("truth &amp; fiction", "mixed"),
        ("False information, False information", "false"),
        ("False information, Missing context", "false"),
        ("Missing context., Partly false information", "mixed"),
        ("Salah [Misleading Content]", "false"),
        ("real photograph; inaccurate description", "mixed"),
        ("was true, but the offer has ended", "mixed"),
        ("True, but outdated", "mixed"),
        # never more than the words carry
        ("missing context", "mixed"),
        ("sem contexto", "mixed"),
        ("may be misleading", "unknown"),
        ("reported to be true", "unknown"),
        ("false & unproven", None),
        ("false; true", None),  # of two raters, it may be
        ("true, out of context", None),
        ("false, sports", None),
        ("Rock & Roll", None),
        ("true and " * 20 + "true", None),  # a sentence
    ],
)
def test_a_rating_of_several_words_says_no_more_than_they_do(
    rating: str, veracity: str | None
) -> None:
    assert general().verdict(rating) == veracity


def test_what_several_ratings_say_together() -> None:
    assert combined(["true", "true"]) == "true"
    assert combined(["true", "unknown"], of_one=True) == "mixed"
    assert combined(["true", "unknown"]) is None
    assert combined(["false", "mixed"]) == "false"
    assert combined(["mixed", "unknown"]) is None
    assert combined(["false", None]) is None


def test_pairs_of_the_users_own_are_read_beside_the_general_map() -> None:
    own = load_map("0=true,1=false")
    assert own.verdict("1") == "false"
    assert own.verdict("truth & fiction") == "mixed"
