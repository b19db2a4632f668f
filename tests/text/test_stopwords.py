"""Stop words by language, and the published English list rebuilt."""

from __future__ import annotations

import pytest

from claimlab.core.errors import UsageError
from claimlab.text.stopwords import covered, stop_words, stop_words_for, tidytext_stop_words


def test_at_least_58_languages_have_a_list() -> None:
    assert len(covered()) >= 58
    assert all(len(stop_words(code)) > 15 for code in covered())


@pytest.mark.parametrize(
    ("language", "word"),
    [
        ("en", "the"),
        ("eng", "don't"),
        ("pt-BR", "não"),
        ("deu", "und"),
        ("zh", "的"),
        ("ar", "من"),
        ("hin", "और"),
    ],
)
def test_common_words_are_in_their_list(language: str, word: str) -> None:
    assert word in stop_words(language)


def test_topics_are_not_in_the_english_list() -> None:
    assert not stop_words("en") & {"world", "research", "billion", "vaccine", "microsoft"}


def test_a_language_without_a_list_has_none_and_a_wrong_name_is_refused() -> None:
    assert stop_words("xho") == frozenset()
    assert "xho" not in covered()
    with pytest.raises(UsageError, match="klingonese"):
        stop_words("klingonese")


def test_union_over_languages() -> None:
    assert stop_words_for(["deu", "fra", "deu"]) == stop_words("de") | stop_words("fr")
    assert stop_words_for([None]) == stop_words_for([]) == stop_words("en")


def test_the_published_list_has_its_728_words() -> None:
    words = tidytext_stop_words()
    assert len(words) == 728
    # one from each of SMART, Snowball and Onix that the other two do not have
    assert {"uucp", "shan't", "furthering"} <= words
    assert not {"numbered", "numbering"} & words
