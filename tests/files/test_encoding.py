"""Encodings are told apart on made-up sentences in the languages that use them."""

from __future__ import annotations

import random

import pytest

from claimlab.core.errors import UnreadableFile
from claimlab.files.encoding import damaged_utf8, decode, looks_binary, read_text, sniff_encoding

SENTENCES = {
    "pt": "A ponte não foi fechada, segundo a câmara; é falso que a população será multada. Já há solução, coração.",
    "es": "El niño dijo que mañana habrá elecciones; ¿es cierto? La información es falsa según el médico.",
    "fr": "L'élève a été reçu à l'hôpital; ça n'est pas vrai, où êtes-vous? Noël, garçon, naïve, cœur.",
    "de": "Die Straße ist für Fußgänger geöffnet, größer als früher, sagt die Bürgermeisterin über die Brücke.",
    "it": "Il sindaco ha detto che il ponte è stato chiuso mercoledì, perché non è più sicuro.",
    "pl": "Zażółć gęślą jaźń, wójt powiedział że most został zamknięty w środę.",
    "cs": "Starosta řekl, že most byl ve středu uzavřen, což není pravda, příliš žluťoučký kůň.",
    "tr": "Belediye başkanı köprünün çarşamba günü kapatıldığını söyledi, bu doğru değil, Iğdır şehri.",
    "ru": "Мэр сказал, что мост закрыли в среду, это неправда, сообщает газета.",
    "zh": "市长说桥梁在星期三关闭,这不是真的,报纸报道说。我们认为这是谣言。",
    "ja": "市長は水曜日に橋が閉鎖されたと述べたが、それは真実ではない。",
}
LEGACY = {
    "pt": "cp1252", "es": "cp1252", "fr": "cp1252", "de": "latin-1", "it": "cp1252", "pl": "cp1250", "cs": "cp1250",
    "tr": "cp1254", "ru": "cp1251", "zh": "gb18030", "ja": "shift_jis",
}  # fmt: skip


@pytest.mark.parametrize("language", SENTENCES)
def test_legacy_and_unicode_encodings_are_found(language: str) -> None:
    text = "id,text\n" + "".join(f"{i},{SENTENCES[language]}\n" for i in range(20))
    for encoding in (
        LEGACY[language],
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
    ):
        data = text.encode(encoding)
        assert read_text(data, "f")[0] == text, encoding


EASTERN = {
    "cp949": "{}의 의사들은 매일 차를 마시면 독감이 낫는다고 말했다",
    "cp932": "{}の市議会は学校のために新しいバスを承認した",
    "euc_jp": "{}の医師は毎日のお茶で風邪が治ると言っている",
    "gb18030": "{}的医生说每天喝茶可以治好感冒,这是真的",
    "big5": "{}的醫生說每天喝茶可以治好感冒,這是真的",
}


@pytest.mark.parametrize("encoding", EASTERN)
def test_eastern_pages_are_told_apart_beside_latin_names(encoding: str) -> None:
    towns = ("Arvendal", "Belmora", "Castrin", "Dunholt")
    rows = [f"{i},{EASTERN[encoding].format(towns[i % 4])},fake" for i in range(60)]
    text = "\n".join(["id,title,label", *rows])
    assert read_text(text.encode(encoding), "f")[0] == text


def test_a_named_encoding_is_obeyed_or_refused() -> None:
    assert decode("é".encode("cp1252"), "f", "cp1252") == "é"
    with pytest.raises(UnreadableFile, match="not utf-8"):
        decode(b"\xe9", "f", "utf-8")
    with pytest.raises(UnreadableFile, match="'klingon' is not an encoding"):
        decode(b"x", "f", "klingon")


def test_a_few_broken_bytes_do_not_change_the_encoding_of_the_rest() -> None:
    good = "não é ção, então há saúde\n" * 20
    data = good.encode() + b"cut \xc3\n"
    text, encoding, notes = read_text(data, "f")
    assert encoding == "utf-8"
    assert text.startswith(good)
    assert "1 broken place" in notes[0]
    assert damaged_utf8("não é ção, então".encode("cp1252")) is None


def test_binary_is_told_from_text() -> None:
    assert looks_binary(random.Random(1).randbytes(5000))
    assert looks_binary(b"id,text\n1,a\0b\n" + b"2,c\n" * 200)
    for language, text in SENTENCES.items():
        for encoding in (LEGACY[language], "utf-8", "utf-16", "utf-16-le"):
            assert not looks_binary(f"id,text\n1,{text}\n".encode(encoding)), (language, encoding)
    assert sniff_encoding(b"plain") == "utf-8"


def test_curly_quotes_with_a_few_foreign_names_are_windows_text() -> None:
    text = "“It is not true,” said the mayor — he’s sure… » more « " * 40 + "José, Zoë and François"
    data = text.encode("cp1252")
    assert (
        sniff_encoding(data) == "cp1252"
    )  # in ISO 8859-2, » is a letter of Czech, and quotes are control characters
    assert decode(data, "a.txt") == text


def test_a_byte_that_windows_text_leaves_undefined_changes_nothing_else() -> None:
    data = "He’s “sure” of it. ".encode("cp1252") * 20 + b"a\x81b"
    text = read_text(data, "a.txt", likely="cp1252")[0]
    assert text.startswith("He’s “sure”")
    assert text.endswith("a\x81b")
