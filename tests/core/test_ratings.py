"""The built-in map of ratings: the usual words of fact-checkers in many languages."""

from __future__ import annotations

import tomllib
import zipfile
from importlib import resources
from pathlib import Path

import pytest

from claimlab.core.labels import fold, general

TEXT = (resources.files("claimlab.core") / "data" / "labels_ratings.toml").read_text(
    encoding="utf-8"
)


@pytest.mark.parametrize(
    ("raw", "verdict"),
    [
        ("মিথ্যা", "false"), ("সত্য", "true"), ("谣言", "false"), ("部分錯誤", "mixed"), ("正確", "true"), ("زائف", "false"),
        ("مضلل", "false"), ("صحيح", "true"), ("falsch", "false"), ("verdadeiro", "true"), ("Fałsz", "false"),
        ("DOĞRU", "true"), ("hoaks", "false"), ("झूठ", "false"), ("неправда", "false"), ("사실", "true"),
        ("根拠不明", "unknown"), ("ข่าวปลอม", "false"), ("sai sự thật", "false"), ("delvis feil", "mixed"),
    ],
)  # fmt: skip
def test_ratings_in_many_scripts(raw: str, verdict: str) -> None:
    assert general().verdict(raw) == verdict


def test_words_that_are_not_ratings_stay_unmapped() -> None:
    for word in ("0", "1", "yes", "no", "sports", "5G", "harmful", "non-rumor", "not supported"):
        assert general().verdict(word) is None, word


def test_every_language_can_say_true_and_false() -> None:
    languages = tomllib.loads(TEXT)["verdicts"]
    assert len(languages) >= 40
    for language, words in languages.items():
        assert words["true"], language
        assert words["false"], language
        assert set(words) <= {"true", "false", "mixed", "unknown"}, language


def test_every_language_has_a_source_and_every_conflict_is_ours() -> None:
    table = tomllib.loads(TEXT)
    assert set(table["sources"]) == set(table["verdicts"])
    for word, (ours, theirs) in table["conflicts"].items():
        assert general().verdict(word) == ours != theirs, word


def test_attested_words_are_in_the_map_and_in_their_source(real_data: Path) -> None:
    with zipfile.ZipFile(real_data / "xfact-label-maps.zip") as source:
        for site, words in tomllib.loads(TEXT)["attested"].items():
            lines = source.read(f"data/x-fact/label_maps/{site}.txt").decode().splitlines()
            listed = {fold(line.split("\t")[0]) for line in lines}
            for word in words:
                assert fold(word) in listed, (site, word)
                assert general().verdict(word) is not None, (site, word)
