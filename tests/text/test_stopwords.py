"""Stop words by language, and the published English list rebuilt."""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.core.errors import UsageError
from claimlab.text.stopwords import (
    covered,
    stop_words,
    tidytext_stop_words,
    without_list,
    without_stop_words,
)
from claimlab.text.telling import held_words, keywords


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


def test_each_text_loses_the_stop_words_of_its_own_language() -> None:
    texts = pl.Series(["die vaccine und panic", "die impfung und panik", "die die"])
    languages = pl.Series(["eng", "deu", None])
    left = without_stop_words(held_words(texts), languages).sort("row", "word")
    held = left.group_by("row", maintain_order=True).agg("word")["word"].to_list()
    # a text that names no language is read in the one that most name; of equals, the first
    assert held == [["die", "panic", "und", "vaccine"], ["impfung", "panik"]]
    assert without_stop_words(held_words(texts), pl.Series([None] * 3, dtype=pl.String)).height == 9


def test_records_of_another_language_hide_no_word() -> None:
    texts = ["bad news: many die", "they die of it", "good news"]
    alone = keywords(pl.Series(texts), pl.Series(["eng"] * 3))
    mixed = keywords(pl.Series([*texts, "die Lage"]), pl.Series([*["eng"] * 3, "deu"]))
    assert "die" in alone
    assert set(mixed) == {*alone, "lage"}


def test_languages_without_a_list_are_named() -> None:
    assert without_list(["eng", "tam", None, "deu", "xho", "no language"]) == ["Tamil", "Xhosa"]


def test_one_letter_is_a_word_in_han_kana_and_hangul_only() -> None:
    words = held_words(pl.Series(["假, 毒", "これは嘘", "헉 a я ก 5 b2"]))["word"].to_list()
    assert {"假", "毒", "嘘", "헉", "b2"} <= set(words)
    assert not {"a", "я", "ก", "5"} & set(words)


def test_the_published_list_has_its_728_words() -> None:
    words = tidytext_stop_words()
    assert len(words) == 728
    # one from each of SMART, Snowball and Onix that the other two do not have
    assert {"uucp", "shan't", "furthering"} <= words
    assert not {"numbered", "numbering"} & words
