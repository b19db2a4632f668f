"""Code pages that share their bytes: each file is read as it was written, or asked about with lines
of both."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from claimlab.core.errors import Question
from claimlab.exchange.importer import import_files
from claimlab.files.encoding import read_text

TEXTS = {
    "cp874": (
        "ดื่มน้ำมะนาวรักษาโรคมะเร็งได้จริงหรือ นักวิทยาศาสตร์ตอบว่าไม่จริง",
        "วัคซีนไม่ได้ทำให้เป็นหมัน แพทย์ยืนยันว่าประชาชนควรตรวจสอบข่าวก่อนแชร์",
    ),
    "cp949": (
        "레몬물을 마시면 암이 낫는다는 소문이 퍼졌지만 전문가들은 근거가 없다고 말했다",
        "정부는 오늘 새로운 방역 지침을 발표했다 이 주장은 거짓이다",
    ),
    "cp1250": (
        "Nieprawda, że szczepionka powoduje bezpłodność, wyjaśnia ministerstwo",
        "Woda z cytryną nie leczy raka, mówią lekarze; żółć i śluz też nie",
    ),
    "big5": ("專家表示喝檸檬水不能治癒癌症，這個說法是謠言", "請不要相信網路上的傳言，這是假的"),
    "cp932": (
        "ワクチンが不妊の原因になるというのは事実ではない",
        "レモン水を飲むと癌が治るという噂",
    ),
    "cp1252": (
        "Fullyrðingin um að bóluefni valdi ófrjósemi er ekki rétt, segir ráðuneytið",
        "Það þýðir að fréttin er ósönn og röng, og æ fleiri deila henni",
    ),
}
TURKISH = (
    "Sağlık Bakanlığı, limonlu suyun kanseri iyileştirdiği yönündeki haberleri yalanladı",
    "Aşının kısırlığa yol açtığı iddiası gerçek değil, çok sayıda kişi bunu paylaştı",
)


def table(texts: tuple[str, ...], page: str, path: Path) -> Path:
    out = io.StringIO()
    rows = [[f"{texts[i % len(texts)]} {i}", ("true", "false")[i % 2]] for i in range(24)]
    csv.writer(out).writerows([["claim", "verdict"], *rows])
    path.write_bytes(out.getvalue().encode(page))
    return path


@pytest.mark.parametrize("page", TEXTS)
def test_a_page_is_read_as_it_was_written(page: str, tmp_path: Path) -> None:
    dataset, _ = import_files(table(TEXTS[page], page, tmp_path / "a.csv"))
    assert dataset["text"][0] == f"{TEXTS[page][0]} 0"
    assert dataset["text"][1] == f"{TEXTS[page][1]} 1"


@pytest.mark.parametrize("form", ["table", "folder"])
def test_turkish_is_asked_about_where_icelandic_letters_explain_it_too(
    form: str, tmp_path: Path
) -> None:
    if form == "table":
        place = table(TURKISH, "cp1254", tmp_path / "a.csv")
    else:
        place = tmp_path / "d"
        for i in range(10):
            file = place / ("fake", "real")[i % 2] / f"{i}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(f"{TURKISH[i % 2]} {i}".encode("cp1254"))
    with pytest.raises(Question) as asked:
        import_files(place)
    assert [(one.argument, one.value) for one in asked.value.choices] == [
        ("encoding", "cp1254"), ("encoding", "cp1252"),
    ]  # fmt: skip
    assert asked.value.choices[0].words.count(" / ") in (1, 2), "lines of each"
    assert "kısırlığa" in asked.value.choices[0].words
    assert "kýsýrlýða" in asked.value.choices[1].words
    dataset, _ = import_files(place, options={"encoding": "cp1254"})
    assert any(text.startswith("Sağlık Bakanlığı") for text in dataset["text"])


def test_a_name_in_another_alphabet_is_no_reason_to_ask() -> None:
    text = "The mayor of the town said that the bridge is closed until the autumn. " * 20
    words, page, _ = read_text(f"{text} Kırşehir".encode("cp1254"), "a")
    assert page == "cp1252"
    assert words.startswith("The mayor")


def test_an_ordinal_sign_makes_portuguese_no_romanian() -> None:
    """The sign of "nº" is a letter of Romanian under another page: it is one of Portuguese, too."""
    lines = [f"{i};A câmara da cidade {i} não fechou a ponte;falso" for i in range(20)]
    text = "\n".join(["nº;afirmação;veredito", *lines])
    assert read_text(text.encode("cp1252"), "a")[:2] == (text, "cp1252")
