"""Language identification: many scripts, abstention, noise, and the target on the real test set."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

from claimlab.core.languages import normalise
from claimlab.text.langid import identify, identify_detailed

SENTENCES = {
    "eng": "The vaccine was tested on thousands of people before it was approved this spring.",
    "por": "A vacina foi testada em milhares de pessoas antes de ser aprovada nesta primavera.",
    "spa": "La vacuna se probó en miles de personas antes de ser aprobada esta primavera.",
    "deu": "Der Impfstoff wurde an Tausenden von Menschen getestet, bevor er zugelassen wurde.",
    "rus": "Вакцину проверили на тысячах людей, прежде чем её одобрили этой весной.",
    "ara": "تم اختبار اللقاح على آلاف الأشخاص قبل الموافقة عليه في هذا الربيع.",
    "heb": "החיסון נבדק על אלפי אנשים לפני שאושר באביב הזה.",
    "fas": "این واکسن پیش از تأیید در بهار امسال روی هزاران نفر آزمایش شد.",
    "hin": "इस वसंत में स्वीकृत होने से पहले टीके का हजारों लोगों पर परीक्षण किया गया था।",
    "zho": "这种疫苗在今年春天获得批准之前已经在数千人身上进行了测试。",
    "jpn": "このワクチンは、今春承認される前に何千人もの人々でテストされました。",
    "kor": "이 백신은 올봄에 승인되기 전에 수천 명의 사람들을 대상으로 시험되었습니다.",
    "tha": "วัคซีนนี้ได้รับการทดสอบกับผู้คนหลายพันคนก่อนที่จะได้รับการอนุมัติ",
    "ell": "Το εμβόλιο δοκιμάστηκε σε χιλιάδες ανθρώπους πριν εγκριθεί αυτή την άνοιξη.",
    "nor": "Vaksinen ble testet på tusenvis av mennesker før den ble godkjent denne våren.",
}


def test_many_scripts() -> None:
    assert dict(zip(SENTENCES, identify(list(SENTENCES.values())), strict=True)) == {
        k: k for k in SENTENCES
    }


def test_too_little_text_is_no_answer() -> None:
    texts = [
        "",
        None,
        "ok",
        "12345 67890 !!!",
        "https://example.org/the/long/path/of/words",
        "@someone #tag 😀",
        "\x00\x01",
    ]
    assert identify(texts) == [None] * len(texts)


def test_noise_does_not_decide() -> None:
    noisy = f"@user1 @user2 \x00\ufdd0 {SENTENCES['por']} #Health #News https://example.org/the-vaccine-was-tested 😀😀"
    assert identify([noisy]) == ["por"]


def test_votes_are_shown() -> None:
    sure, short, split = identify_detailed([SENTENCES["eng"], "hm", "Kitten Van Buuren"])
    assert (sure.language, sure.agreed, dict(sure.votes)) == ("eng", 1, {"pycld2": "eng"})
    assert (short.language, short.agreed, dict(short.votes)) == (None, 0, {})
    assert next(iter(split.votes)) == "pycld2"
    assert len(split.votes) >= 2
    assert (
        split.language is None
        or list(split.votes.values()).count(split.language) == split.agreed == 2
    )


def test_without_agreement_the_best_identifier_alone_answers_on_request() -> None:
    names = ["Kitten Van Buuren", "Nota bene amigo", "Sakura kafe moderna"]
    for text, result in zip(names, identify_detailed(names), strict=True):
        answer = identify([text], abstain=False)[0]
        assert answer == (result.language or result.votes["py3langid"])
    assert None in identify(names)  # otherwise nothing was tried


def test_confusable_languages_are_put_to_the_vote() -> None:
    text = "Vaksin itu telah diuji kepada ribuan orang sebelum disetujui pada musim semi tahun ini."
    result = identify_detailed([text])[0]
    assert result.language in ("ind", "msa")
    assert len(result.votes) >= 2


def test_series_repeats_and_progress() -> None:
    seen: list[tuple[str, int, int | None]] = []
    texts = pl.Series([SENTENCES["eng"], None, SENTENCES["deu"], SENTENCES["eng"]])
    answers = identify(texts, progress=lambda *state: seen.append(state))
    assert answers == ["eng", None, "deu", "eng"]
    assert seen[-1] == ("language", 2, 2)  # the repeated text was looked at once
    assert identify([]) == []


def test_a_text_of_a_megabyte_does_not_hang() -> None:
    assert identify([SENTENCES["eng"] * 12_000, "ß" * 1_000_000, "a" * 1_000_000])[0] == "eng"


@pytest.mark.realdata
def test_macro_accuracy_over_78_languages(real_data: Path) -> None:
    rows = [
        line.split("\t", 1) for line in (real_data / "lid-udhr.tsv").read_text("utf-8").splitlines()
    ]
    right: dict[str, list[bool]] = defaultdict(list)
    for (code, _), answer in zip(rows, identify([text for _, text in rows]), strict=True):
        right[code].append(answer == normalise(code))
    assert len(right) == 78
    assert sum(sum(hits) / len(hits) for hits in right.values()) / len(right) >= 0.98


def test_a_mixed_beginning_is_decided_by_the_whole_text() -> None:
    """The first 500 characters are half German, half English; four fifths of the whole are English:
    pycld2 is sure.
    """
    german = (
        "Der Rat der Stadt hat gestern beschlossen, dass die alte Brücke im nächsten Jahr geschlossen wird. "
        * 2
    )
    english = (
        "The council of the town decided yesterday that the old bridge will be closed next year for repairs. "
        * 14
    )
    (found,) = identify_detailed([german + english])
    assert (found.language, dict(found.votes)) == ("eng", {"pycld2": "eng"})
