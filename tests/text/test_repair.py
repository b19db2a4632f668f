"""Mojibake: made by the very mistake it comes from, mended, and never seen where there is none."""

from __future__ import annotations

import polars as pl
import pytest
from ftfy.badness import is_bad

from claimlab.text.normalise import looks_broken, repair_mojibake

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
