from __future__ import annotations

import pytest

from claimlab.core import languages
from claimlab.core.errors import UsageError


@pytest.mark.parametrize(
    ("written", "iso3"),
    [
        ("fa", "fas"), ("per", "fas"), ("fas", "fas"), ("pes", "fas"), ("Persian", "fas"),
        ("ms", "msa"), ("zsm", "msa"), ("may", "msa"), ("no", "nor"), ("nob", "nor"), ("nn", "nor"),
        ("zh", "zho"), ("cmn", "zho"), ("chi", "zho"), ("zh-CN", "zho"), ("zh_Hant", "zho"),
        ("id", "ind"), ("pt-BR", "por"), ("English", "eng"), ("GERMAN", "deu"), ("iw", "heb"), ("ekk", "est"), ("arb", "ara"),
    ],
)  # fmt: skip
def test_whatever_a_dataset_wrote_becomes_iso_639_3(written: str, iso3: str) -> None:
    assert languages.normalise(written) == iso3


@pytest.mark.parametrize("nothing", ["und", "xx", "", "??", "zxx", "mul"])
def test_what_names_no_language_is_null(nothing: str) -> None:
    assert languages.normalise(nothing) is None


def test_the_way_back() -> None:
    assert languages.to_iso1("zho") == "zh"
    assert languages.to_iso1("cmn") == "zh"
    assert languages.to_iso1("ceb") is None


def test_every_language_of_the_table_round_trips() -> None:
    table = languages.table()
    assert len(table) == 78
    for code, language in table.items():
        assert languages.normalise(code) == code == languages._find(code).pt3
        if language.iso1:
            assert languages.normalise(language.iso1) == code == languages._find(language.iso1).pt3
            assert languages.to_iso1(code) == language.iso1


def test_an_uncertain_cell_stays_uncertain() -> None:
    kurdish = languages.table()["kur"]
    assert kurdish.script == "Latn"
    assert kurdish.uncertain == {"script"}
    assert languages.table()["eng"].uncertain == frozenset()


def test_confusable_languages_count_as_one_only_when_asked() -> None:
    assert not languages.same("ms", "id")
    assert languages.same("ms", "id", equivalent=languages.CONFUSABLE)
    assert languages.same("nb", "no")


def test_a_wrong_code_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="ISO 639"):
        languages.require("klingonish")
