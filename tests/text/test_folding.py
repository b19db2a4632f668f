"""The two keys of a text: what is the same text, what may be a copy, and what says another thing."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest

from claimlab.text.folding import copy_key, identity
from claimlab.text.neardup import find_pairs
from claimlab.text.normalise import normal_form

SAME = [
    ("疫苗\u200b有毒\u200b", "疫苗有毒"),
    ("\u200fعاجل\u200e", "عاجل"),
    ("می\u200cخواهم", "میخواهم"),
    ("١٢ شخصا", "12 شخصا"),
    ("१२ लोग", "12 लोग"),
    ("ＣＯＶＩＤ－１９", "covid-19"),
    ("ﻻ", "لا"),
    ("ｶﾀｶﾅ", "カタカナ"),
    ("soft\u00adhyphen", "softhyphen"),
    ("क\u094d\u200dष", "क\u094dष"),
]
COPIES = [
    *SAME,
    ("عَاجِلٌ", "عاجل"),
    ("عـــاجل", "عاجل"),
    ("یہ کیسے", "يہ كيسے"),
    ("İSTANBUL'DA AŞILAR", "istanbul'da aşılar"),
    ("IŞIK", "ışık"),
    ("Αλήθεια", "αληθεια"),
    ("Tiếng Việt", "tieng viet"),
    ("ọ̀rọ̀", "oro"),
    ("疫苗謠言在國家醫院", "疫苗谣言在国家医院"),
    ("疫苗 谣言 在 医院", "疫苗谣言在医院"),
    ("вaкцинa", "вакцина"),
    ("ещё", "еще"),
    ("क़लम", "कलम"),
    ("שָׁלוֹם", "שלום"),
]
# A word, and another that differs in a vowel, a voice mark, a letter or a negation.
OTHERS = [
    ("कल", "काल"),
    ("दिन", "दीन"),
    ("कम", "काम"),
    ("সব", "সাব"),
    ("மரம்", "மாரம்"),
    ("かき", "かぎ"),
    ("はし", "ばし"),
    ("おばさん", "おばあさん"),
    ("疫苗会", "疫苗不会"),
    ("死", "活"),
    ("ไม่ตาย", "ตาย"),
    ("มา", "ม้า"),
    ("قتل", "قبل"),
    ("صحيح", "غير صحيح"),
    ("убивают", "не убивают"),
    ("дом", "дым"),
    ("있다", "없다"),
    ("불", "풀"),
    ("öldürür", "öldürmez"),
    ("is", "is not"),
]
CONTEXTS = [
    ("2021年の{}です", ""),
    ("{}", "!"),
    ("abc {} xyz", ""),
    ("خبر {} الآن", ""),
    ("यह {} है", ""),
]
NUMBERS = [(str(n), str(n + 80)) for n in (12, 3, 150, 7, 2019)]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_looks_the_same_is_the_same_text(one: str, other: str) -> None:
    assert normal_form(pl.Series([one, other])).n_unique() == 1


@pytest.mark.parametrize(("one", "other"), COPIES)
def test_a_copy_in_another_way_of_writing_is_found(one: str, other: str) -> None:
    pairs = find_pairs([one, other])
    assert pairs.jaccard.tolist() == [1.0]


def test_two_hundred_pairs_of_different_meaning_stay_apart() -> None:
    pairs = [
        (before.format(a) + after, before.format(b) + after)
        for (a, b), (before, after) in product([*OTHERS, *NUMBERS], CONTEXTS)
    ]
    native = [
        (a.translate(digits), b.translate(digits))
        for digits in (
            {48 + i: first + i for i in range(10)}
            for first in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xFF10)
        )
        for a, b in pairs[-len(NUMBERS) * len(CONTEXTS) :]
    ]
    assert len(pairs) + len(native) >= 200
    for one, other in [*pairs, *native]:
        assert copy_key(one) != copy_key(other), (one, other)
        assert identity(one) != identity(other)


def test_what_is_a_copy_need_not_be_the_same_text() -> None:
    loose = [pair for pair in COPIES if pair not in SAME]
    assert sum(identity(a) != identity(b) for a, b in loose) == len(loose)


@pytest.mark.parametrize(("one", "other"), [*COPIES, *OTHERS])
def test_both_keys_are_idempotent(one: str, other: str) -> None:
    for text in (one, other):
        assert identity(identity(text)) == identity(text)
        assert copy_key(copy_key(text)) == copy_key(text)
