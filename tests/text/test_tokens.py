"""Words and their counts, in scripts with and without spaces."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl
import pytest

from claimlab.text.stopwords import stop_words
from claimlab.text.tokens import (
    cdl_count_tokens,
    cdl_presence_tokens,
    count_words,
    first_words,
    spaced,
    tokenize,
    without_words,
)
from claimlab.text.tokens import words as typed_words


def words(text: str, **options: str) -> list[str]:
    return tokenize(pl.Series([text]), **options).to_list()[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't, don’t: COVID-19!", ["don't", "don't", "covid", "19"]),
        (
            "the U.S. lost 3.5% of 1,000,000 co2",
            ["the", "u.s", "lost", "3.5", "of", "1,000,000", "co2"],
        ),
        ("snake_case __ _x_ 19th", ["snake_case", "x", "19th"]),
        ("@user #StopTheLie", ["user", "stopthelie"]),
        ("ÉCOLE École e\u0301cole", ["école", "école", "école"]),
        ("Привет, МИР!", ["привет", "мир"]),
        ("لا للقاحات، مرحبا", ["لا", "للقاحات", "مرحبا"]),
        ('ארה"ב אמרה שלום', ['ארה"ב', "אמרה", "שלום"]),
        ("हिन्दी में नमस्ते।", ["हिन्दी", "में", "नमस्ते"]),
        ("\u09dc \u09a1\u09bc", ["\u09a1\u09bc", "\u09a1\u09bc"]),
        ("한국어 단어입니다.", ["한국어", "단어입니다"]),
        ("ქართული ენა", ["ქართული", "ენა"]),
        ("❤️ 😀 1️⃣ ½ — … !!", ["1"]),
        ("", []),
        ("\x00\x01 \u200b", []),
    ],
)
def test_words_of_scripts_with_spaces(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("今天天气很好", {"今天", "天气"}),
        ("コーヒーを飲みます", {"コーヒー", "を"}),
        ("ฉันกินข้าว", {"ฉัน", "กิน", "ข้าว"}),
        ("ខ្ញុំស្រលាញ់ភាសាខ្មែរ", {"ខ្ញុំ", "ស្រលាញ់"}),
        ("ຂ້ອຍກິນເຂົ້າ", {"ຂ້ອຍ"}),
        ("ကျွန်တော်စာဖတ်သည်", {"ကျွန်တော်"}),
    ],
)
def test_scripts_without_spaces_are_cut_into_words(text: str, some: set[str]) -> None:
    found = words(text)
    assert some <= set(found)
    assert "".join(found) == text


def test_scripts_mix_in_one_text() -> None:
    assert words("iPhone用户说5G有害 ok") == ["iphone", "用户", "说", "5g", "有害", "ok"]


def test_signs_of_an_unspaced_script_that_are_no_words() -> None:
    texts = pl.Series(["។", "฿ 100 ។ ๆ", "ๆๆ", "々", "a"])
    assert [set(row) <= {"100", "a", "ๆ", "ๆๆ", "々"} for row in tokenize(texts).to_list()] == [
        True
    ] * 5
    assert tokenize(texts).to_list()[0] == []
    assert count_words(texts).to_list()[0] == 0


def test_turkish_lower_case_follows_the_language() -> None:
    assert words("IŞIK İZMİR", language="tr") == ["ışık", "izmir"]
    assert words("IT", language="en") == ["it"]


def test_rows_keep_their_places() -> None:
    texts = pl.Series("t", ["a b", None, "今天天气", "", "c"])
    found = tokenize(texts)
    assert found.to_list() == [["a", "b"], None, ["今天", "天气"], [], ["c"]]
    assert found.name == "t"
    assert count_words(texts).to_list() == [2, None, 2, 0, 1]
    assert tokenize(texts.clear()).to_list() == []


def test_the_published_cleaning_counts_one_way_and_looks_another() -> None:
    texts = pl.Series(["The COVID-19 vaccine don’t raise CO2, don't it?", None])
    assert cdl_count_tokens(texts).to_list() == [
        ["covid", "19", "vaccine", "don’t", "raise", "co2"],
        None,
    ]
    assert cdl_presence_tokens(texts).to_list() == [
        ["the", "covid", "vaccine", "dont", "raise", "dont"],
        None,
    ]


def test_stop_words_are_words_as_the_tokenizer_writes_them() -> None:
    for language, text in {
        "en": "we don’t know",
        "de": "und die",
        "fr": "c'est à dire",
        "ar": "على من",
    }.items():
        assert set(words(text)) & stop_words(language)


def test_a_text_of_a_megabyte_does_not_hang() -> None:
    for piece in ("a", "word ", "今天天气", "ทุกคน", "a.b.", "1,2", "_", "'", "é"):
        big = pl.Series([piece * (1_000_000 // len(piece.encode()))])
        start = time.perf_counter()
        tokenize(big)
        cdl_presence_tokens(big)
        assert time.perf_counter() - start < 20, piece


@pytest.mark.realdata
def test_the_pattern_agrees_with_icu_in_78_languages(real_data: Path) -> None:
    from icu4py.breakers import WordBreaker

    lines = (real_data / "lid-udhr.tsv").read_text("utf-8").splitlines()
    texts = pl.Series([line.split("\t", 1)[1] for line in lines]).str.to_lowercase()
    straight = texts.str.normalize("NFC").str.replace_all("[’‘]", "'")
    same = [
        ours == [w for w in WordBreaker(text, "en") if any(c.isalpha() or c.isdecimal() for c in w)]
        for ours, text in zip(tokenize(texts).to_list(), straight.to_list(), strict=True)
    ]
    assert sum(same) / len(same) > 0.995


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Hello, don't -- (x)", ["Hello,", "don't", "--", "(x)"]),
        ("疫苗、病毒感染3人！", ["疫苗、", "病毒", "感染", "3", "人！"]),
        ("ワクチンは、危険です。", ["ワクチン", "は、", "危険", "です。"]),
        ("ผมไม่เชื่อ จริงๆ", ["ผม", "ไม่", "เชื่อ", "จริงๆ"]),
    ],
)
def test_words_as_they_are_typed(text: str, cut: list[str]) -> None:
    assert typed_words(text) == cut
    assert "".join(cut) == "".join(text.split())
    assert spaced(pl.Series([text, None])).to_list() == [
        text if text.isascii() else " ".join(cut),
        None,
    ]


def test_first_words_put_no_space_where_the_script_writes_none() -> None:
    assert first_words("疫苗、病毒感染3人", 3) == "疫苗、病毒感染"
    assert first_words("  one\ntwo  three four", 3) == "one two three"
    assert first_words("one", 3) == "one"


def test_scripts_whose_words_cannot_be_told_apart_are_named() -> None:
    texts = pl.Series(["བོད་སྐད་", "ꦧꦱ", "疫苗", "one", None])
    assert without_words(texts).to_list() == [True, True, False, False, False]
