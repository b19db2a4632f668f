from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

from claimlab.text.traits import PUNCTUATION, as_numbers, lengths, links, marks, shares, sites


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


@pytest.mark.parametrize(
    ("name", "marked", "plain"),
    [
        ("full stops of other scripts", "这是真的。", "这是真的."),
        ("a full stop of another script at the end", "这。是真的。", "这。是真的"),
        ("full stops of other scripts", "यह सच है।", "यह सच है."),
        ("full stops of other scripts", "یہ سچ ہے۔", "یہ سچ ہے."),
        ("commas of other scripts", "نعم، لا", "نعم, لا"),
        ("question marks of other scripts", "هل هذا صحيح؟", "هل هذا صحيح?"),
        ("question marks of other scripts", "Είναι αλήθεια;", "Είναι αλήθεια."),
        ("a question mark at the end", "क्या यह सच है?", "in 2020?"),
        ("exclamation marks of other scripts", "假的！", "假的!"),
        ("inverted question and exclamation marks", "¿Qué?", "Qué?"),
        ("quotation marks of Chinese and Japanese", "「嘘」", '"嘘"'),
        ("brackets of Chinese and Japanese", "【震惊】", "[震惊]"),
        ("wave dashes", "震惊~", "about ~5"),
        ("vowel signs of Arabic", "عَاجِل", "عاجل"),
        ("lengthened letters of Arabic", "عـاجل", "عاجل"),
        ("presentation forms of Arabic", "ﻻ", "لا"),
        ("letters and accents as two characters", "e\u0301", "é"),
        ("letters and accents as two characters", "\u1112\u1161", "하"),
        ("half-width kana", "ｶﾀｶﾅ", "カタカナ"),
        ("full-width digits", "１２", "12"),
        ("digits of other scripts", "१२", "१२".translate({0x967: "1", 0x968: "2"})),
        ("Latin letters in words of another script", "вaкцина", "вакцина"),
    ],
)
def test_marks_of_other_scripts_are_seen(name: str, marked: str, plain: str) -> None:
    names, matrix = marks(pl.Series([marked, plain, None]), "script")
    assert matrix[:, names.index(name)].tolist() == [1.0, 0.0, 0.0]


def test_no_mark_of_another_script_is_in_english() -> None:
    english = "“Why?” she asked (in 2020); no: 3.5% – don't! [1] {x} «y» ~5 #tag @name naïve?"
    assert not marks(pl.Series([english]), "script")[1].any()


def test_punctuation_of_every_script_is_counted_under_one_name() -> None:
    names, matrix = shares(pl.Series(["a!b！", "a?b؟", "“a「b", "(a【b"]), "punctuation")
    for row, name in enumerate(
        ("exclamation marks", "question marks", "quotation marks", "brackets")
    ):
        assert matrix[row, names.index(name)] == 0.5


def test_sentences_are_cut_at_the_same_marks_by_every_room() -> None:
    from claimlab.search.passage import _SENTENCE

    for kind in ("question", "full_stop"):
        for mark in PUNCTUATION[kind]:
            assert len(_SENTENCE.split(f"αβγ{mark} αβγ")) > 1, mark
