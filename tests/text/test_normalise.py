"""Normal forms: what counts as the same text, and what cleaning takes away and leaves."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.text.normalise import _PLAIN, normal_form, strip_accents, strip_emoji, strip_invisible
from claimlab.text.rows import change_where

CONTROLS = {chr(c) for c in range(0x1C, 0x20)}  # whitespace to Python, not to Unicode
TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)


def one(function, text: str | None) -> str | None:
    return function(pl.Series([text], dtype=pl.String)).to_list()[0]


def reference(text: str) -> str:
    seen = "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if not ignored(c))
    folded = unicodedata.normalize("NFKC", seen).lower()
    digits = [str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded]
    return " ".join("".join(digits).split())


# Default_Ignorable_Code_Point: characters of format but for these, and some that are none.
NOT_IGNORED = frozenset(
    (
        *(*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD),
        *(*range(0xFFF9, 0xFFFC), *range(0x13430, 0x13440)),
    )
)
IGNORED = frozenset(
    (
        *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2065, 0x3164, 0xFFA0),
        *(*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)),
    )
)


def ignored(char: str) -> bool:
    code = ord(char)
    return code in IGNORED or (unicodedata.category(char) == "Cf" and code not in NOT_IGNORED)


@pytest.mark.parametrize(
    "spellings",
    [
        ["The  WHO\tsaid so ", "the who said so", "\nTHE WHO SAID SO"],
        ["Straße", "STRASSE", "strasse"],
        ["ＣＯＶＩＤ－１９", "covid-19"],
        ["ﬁnal ﬂu", "Final Flu"],
        ["café", "cafe\u0301", "CAFÉ"],
        ["ΟΔΟΣ", "οδος", "οδοσ"],
        ["a\u00a0b", "a\u3000b", "a b"],
    ],
)
def test_spellings_of_one_text_have_one_normal_form(spellings: list[str]) -> None:
    assert len(set(normal_form(pl.Series(spellings)).to_list())) == 1


def test_different_texts_stay_different() -> None:
    texts = pl.Series(["resume", "résumé", "السلام", "سلام", "한국", "中国", "中國"])
    assert normal_form(texts).n_unique() == texts.len()


def test_null_stays_null_and_the_name_is_kept() -> None:
    texts = pl.Series("text", [None, "", "A 😀", "é"])
    for function in (normal_form, strip_accents, strip_emoji, strip_invisible):
        done = function(texts)
        assert done.to_list()[:2] == [None, ""]
        assert done.name == "text"
        assert function(texts.clear()).len() == 0
    assert texts.to_list() == [None, "", "A 😀", "é"]  # the input is left alone


def test_the_fast_way_is_right_for_every_character_it_takes() -> None:
    every = pl.Series([chr(c) for c in range(0x20000) if not 0xD800 <= c < 0xE000])
    plain = every.filter(every.str.contains(f"^{_PLAIN}$"))
    assert plain.len() > 30_000
    got = normal_form("x" + plain + "x").to_list()
    wrong = {c for c, form in zip(plain.to_list(), got, strict=True) if form != reference(f"x{c}x")}
    assert wrong <= CONTROLS


@settings(max_examples=40, deadline=None)
@given(st.lists(TEXT, min_size=20, max_size=40))
def test_normal_form_is_the_unicode_recipe_and_idempotent(texts: list[str]) -> None:
    once = normal_form(pl.Series(texts))
    assert normal_form(once).to_list() == once.to_list()
    seen = [
        (text, form)
        for text, form in zip(texts, once.to_list(), strict=True)
        if not CONTROLS & set(text)
    ]
    assert [form for _, form in seen] == [reference(text) for text, _ in seen]


def test_accents_go_but_vowel_signs_of_other_scripts_stay() -> None:
    assert one(strip_accents, "Não é vacinação, ça où ŝ Ё ή") == "Nao e vacinacao, ca ou s Е η"
    for text in ("हिन्दी में", "สวัสดีค่ะ", "مُحَمَّد", "שָׁלוֹם", "한국어", "がぎぐ", "မြန်မာ"):
        assert one(strip_accents, text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("good😀morning", "good morning"),
        ("stay safe 😷😷 !", "stay safe !"),
        ("family 👨‍👩‍👧‍👦 photo", "family photo"),
        ("thumbs 👍🏿 up", "thumbs up"),
        ("flags 🇧🇷🇰🇪 and 🏴󠁧󠁢󠁥󠁮󠁧󠁿 here", "flags and here"),
        ("step 1️⃣ of #️⃣", "step of"),
        ("❤️ love ❤ love", "love love"),
        ("line 😀\nnext", "line\nnext"),
        ("😀", ""),
    ],
)
def test_emoji_go(text: str, left: str) -> None:
    assert one(strip_emoji, text) == left


@pytest.mark.parametrize(
    "text",
    ["© 2021 Brand® Name™ ℹ", "call 123 #tag *bold*", "a  b\t c ", "नमस्ते", "क्‍ष", "A → B ↔ C", "①②"],
)
def test_what_is_no_emoji_keeps_its_bytes(text: str) -> None:
    assert one(strip_emoji, text) == text


def test_invisible_characters_go() -> None:
    assert (
        one(strip_invisible, "vac\u200bcine\ufeff \u202eabc\u202c s\u00adoft\x00\x07")
        == "vaccine abc soft"
    )
    assert one(strip_invisible, "a\tb\nc\r\nd") == "a\tb\nc\r\nd"
    assert one(strip_invisible, "hid\U000e0041\U000e0042den") == "hidden"
    assert one(strip_invisible, "zero\u200dwidth\u200cjoin") == "zerowidthjoin"


@pytest.mark.parametrize("text", ["می‌خواهم", "क्‍ष", "👨‍👩‍👧 ok", "❤️‍🔥", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "עברית", "ශ්‍රී"])
def test_joiners_that_carry_meaning_stay(text: str) -> None:
    assert one(strip_invisible, text) == text


def test_change_where_touches_only_its_rows() -> None:
    texts = pl.Series("t", ["a", None, "b", "c"])
    mask = pl.Series([True, None, False, True])
    assert change_where(texts, mask, lambda rows: rows.str.to_uppercase()).to_list() == [
        "A",
        None,
        "b",
        "C",
    ]
    lists = pl.Series([["a"], None, [], ["b", "c"]])
    assert change_where(lists, mask, lambda rows: rows.list.reverse()).to_list() == [
        ["a"],
        None,
        [],
        ["c", "b"],
    ]


@pytest.mark.slow
def test_a_text_of_a_megabyte_does_not_hang() -> None:
    for piece in ("word ", "😀", "\u200b", "é", "ß\u0301", " "):
        big = pl.Series([piece * (1_000_000 // len(piece))])
        for function in (normal_form, strip_accents, strip_emoji, strip_invisible):
            assert function(big).len() == 1
