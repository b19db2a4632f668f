"""Mojibake: made by the very mistake it comes from, mended, and never seen where there is none."""

from __future__ import annotations

import polars as pl
import pytest
from ftfy.badness import is_bad

from claimlab.text.repair import (
    PAGES,
    damage_of,
    half_read,
    looks_broken,
    lost_to_question_marks,
    repair_mojibake,
)

GOOD = [
    "Vacinação não é perigosa, já está provado.",
    "Größere Übung für Ärzte – „so“ heißt es…",
    "L’été dernier, à Noël, c’était déjà ça.",
    "Прививка от гриппа",
    "اللقاح آمن",
    "疫苗是安全的",
    "€5 ½ price ™ © °C",
    "plain ASCII",
    "ÀÉÎÕÜ",
    "Łódź żółć",
]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_text_read_in_the_wrong_encoding_is_mended(encoding: str) -> None:
    good = [t for t in GOOD[:4] if not t.isascii()]
    broken = [t.encode("utf-8").decode(encoding, errors="ignore") for t in good]
    mended = repair_mojibake(pl.Series(broken)).to_list()
    readable = [
        m
        for m, g, b in zip(mended, good, broken, strict=True)
        if b.encode(encoding).decode("utf-8", "ignore") == g
    ]
    assert set(readable) <= set(good)
    assert readable
    assert repair_mojibake(pl.Series(["CafÃ© donâ€™t"])).to_list() == ["Café don’t"]


def test_good_text_keeps_its_bytes() -> None:
    texts = pl.Series("t", [*GOOD, None, ""])
    assert repair_mojibake(texts).to_list() == texts.to_list()
    assert repair_mojibake(texts).name == "t"


def test_the_fast_question_gets_the_answer_ftfy_would_give() -> None:
    broken = [
        t.encode("utf-8").decode(e, errors="replace")
        for t in GOOD
        for e in ("cp1252", "cp1251", "mac-roman", "cp437")
    ]
    texts = [*GOOD, *broken, "Ã ", "voilÃ le", "Å", "œ!", "naïve œuvre", "a Â b", "вЂ™"]
    assert looks_broken(pl.Series(texts)).to_list() == [is_bad(t) for t in texts]
    assert sum(map(is_bad, texts)) > 15


def test_a_text_of_a_megabyte_does_not_hang() -> None:
    assert repair_mojibake(pl.Series(["Ã©tÃ© â€™ " * 90_000])).str.starts_with(
        "été ’"
    ).to_list() == [True]


THAI = "วัคซีนปลอดภัยสำหรับทุกคน และไม่มีผลข้างเคียง 2564"


def misread(text: str, page: str) -> str:
    """UTF-8 read as a page of one byte; a byte that the page lacks is a control, as browsers do."""
    return "".join(
        bytes([code]).decode(page, errors="ignore") or chr(code) for code in text.encode("utf-8")
    )


@pytest.mark.parametrize("page", PAGES)
def test_pages_that_ftfy_does_not_know_are_tried(page: str) -> None:
    broken = pl.Series([misread(THAI, page)])
    assert looks_broken(broken).to_list() == [True]
    assert repair_mojibake(broken).to_list() == [THAI]


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        ("ÒThe ferry canÕt sail,Ó says the mayor", "“The ferry can’t sail,” says the mayor"),
        ("BritainÕs bridge is ÒclosedÓ.", "Britain’s bridge is “closed”."),
    ],
)
def test_quotation_marks_of_mac_roman_are_repaired(broken: str, repaired: str) -> None:
    """They are bytes of Mac Roman that were read as Latin-1."""
    assert repaired.encode("mac_roman").decode("latin-1") == broken
    assert repair_mojibake(pl.Series([broken])).to_list() == [repaired]


def test_words_with_accents_are_no_quotation_marks() -> None:
    good = ["NÓS NÃO VAMOS", "É verdade", "Órgão público", "Õhtu on käes", "Bò Ô tô", "ÓTIMO Ñandú"]
    assert looks_broken(pl.Series(good)).to_list() == [False] * len(good)


def test_what_no_decoding_repairs_stays_as_it_is() -> None:
    """A text of two pages: half of it repaired could not be told from a whole one."""
    broken = misread(THAI, "cp874") + " " + misread("Größe", "cp1252") + " " + "\ufffd"
    assert repair_mojibake(pl.Series([broken])).to_list() == [broken]
    assert half_read(pl.Series([broken, "plain", None])).to_list() == [True, False, False]


def test_damage_is_counted_with_an_example() -> None:
    texts = pl.Series([misread(THAI, "cp874"), "plain", "???? ??? ??", "Really?", "what??", None])
    damage = damage_of(texts)
    assert (damage.texts, damage.broken, damage.repairable, damage.lost) == (5, 1, 1, 1)
    assert damage.example == (misread(THAI, "cp874"), THAI)
    assert not damage.mostly_lost
    assert damage_of(pl.Series(["?????", "??? ??", "fine"])).mostly_lost
    assert lost_to_question_marks(pl.Series(["???", "??", "a ???", "", None])).to_list() == [
        *(True, False, True, False, False),
    ]
