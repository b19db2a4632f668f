from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.core.errors import DataError, UnknownName, UnmappedLabels, UsageError
from claimlab.core.labels import LabelMap, built_in_maps, fold, general, load_map, parse_map

# The ratings of the Portuguese paper's Table 5 (as translated there), and of the guide's appendix
# B.
SEED_RATINGS = {
    "false": "false", "distorted": "mixed", "not quite so": "mixed", "unsustainable": "unknown", "exaggerated": "mixed",
    "contradictory": "mixed", "misleading": "false", "satire": "unknown", "wrong": "false", "true": "true", "true but": "mixed",
    "under review": "unknown", "too early to tell": "unknown", "unverified": "unknown", "no evidence": "unknown",
    "out of context": "mixed", "lacks context": "mixed", "fake": "false",
    "pants-fire": "false", "barely true": "false", "half-true": "mixed", "mostly true": "true", "mostly false": "false",
    "mixture": "mixed", "unproven": "unknown", "partly true": "mixed", "unverifiable": "unknown", "other": "unknown",
    "supports": "true", "refutes": "false", "not enough info": "unknown", "disputed": "mixed", "miscaptioned": "false",
    "legit": "true", "partially false": "mixed",
}  # fmt: skip
BY_LANGUAGE = {
    "pt": {"FALSO": "false", "Verdadeiro": "true", "Não é bem assim": "mixed", "Insustentável": "unknown", "#FAKE": "false"},
    "es": {"Bulo": "false", "Verdadero": "true", "Engañoso": "false", "Verdad a medias": "mixed", "Sin pruebas": "unknown"},
    "fr": {"Faux": "false", "Plutôt vrai": "true", "Trompeur": "false", "À nuancer": "mixed", "Non vérifié": "unknown"},
    "de": {"Falsch": "false", "Größtenteils richtig": "true", "Irreführend": "false", "Teilweise falsch": "mixed", "Unbelegt": "unknown"},
}  # fmt: skip


@pytest.mark.parametrize(("raw", "verdict"), SEED_RATINGS.items())
def test_the_general_map_knows_the_papers_ratings(raw: str, verdict: str) -> None:
    assert general().verdict(raw) == verdict


@pytest.mark.parametrize("language", BY_LANGUAGE)
def test_the_general_map_knows_languages(language: str) -> None:
    for raw, verdict in BY_LANGUAGE[language].items():
        assert general().verdict(raw) == verdict, raw


def test_every_built_in_map_is_versioned_and_consistent() -> None:
    assert "ratings" in built_in_maps()
    for name in built_in_maps():
        loaded = load_map(name)
        assert loaded.version >= 1
        assert (
            loaded.verdicts
        )  # the constructor refuses values that fold to one key with different verdicts


def test_a_value_no_map_knows_lists_values_and_counts() -> None:
    raw = pl.Series("label", ["true", "weird", "weird", "odd", None, " "])
    with pytest.raises(UnmappedLabels) as caught:
        general().apply(raw)
    assert caught.value.counts == {"weird": 2, "odd": 1}
    assert "'weird' (2)" in str(caught.value)
    assert "`unmapped='unknown'`" in str(caught.value)


def test_strangers_are_accepted_on_request_and_counted() -> None:
    mapped = general().apply(pl.Series("label", ["true", "weird", None, ""]), unmapped="unknown")
    assert mapped.veracity.to_list() == ["true", "unknown", None, None]
    assert mapped.unmapped == {"weird": 1}


def test_an_exact_map_is_case_sensitive() -> None:
    exact = LabelMap("m", {"True": "true", "true": "false"}, exact=True)
    assert exact.verdict("True") == "true"
    assert exact.verdict("TRUE") is None


def test_a_map_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(DataError, match="same once folded"):
        LabelMap("m", {"Half-True": "mixed", "half true": "true"})
    with pytest.raises(DataError, match="Use only"):
        LabelMap("m", {"x": "perhaps"})


def test_a_map_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\nversion = 3\n[verdicts]\n"A+" = "true"\nfalse = ["F", "D"]\n',
        encoding="utf-8",
    )
    mine = load_map(file)
    assert (mine.version, mine.verdict("a+"), mine.verdict("d"), mine.verdict("c")) == (
        3,
        "true",
        "false",
        None,
    )
    for text, word in {
        "verdicts = 3": "no table",
        "[verdicts": "not valid TOML",
        "[verdicts]\nx = [1]": "neither",
    }.items():
        with pytest.raises(DataError, match=word):
            parse_map(text, "x")
    with pytest.raises(DataError, match="no map file"):
        load_map(tmp_path / "absent.toml")
    with pytest.raises(UnknownName, match="Did you mean 'ratings'"):
        load_map("rating")


def test_folding() -> None:
    assert fold("  Não é  BEM assim. ") == "nao e bem assim"
    assert fold("mostly_true") == fold("Mostly-True") == "mostly true"
    assert fold("YANLIŞ") == fold("yanlış") == "yanlis"


def test_pairs_are_a_text_or_a_dict() -> None:
    as_text, as_dict = load_map("0=true,1=false"), load_map({0: "true", 1: "false"})  # type: ignore[dict-item]
    assert as_text == as_dict
    assert as_dict.verdict("0") == "true"
    assert as_dict.verdict("pants-fire") == "false", "the general map is still known"
    with pytest.raises(DataError, match="'0=maybe' cannot be read"):
        load_map({"0": "maybe"})
    with pytest.raises(UsageError, match="`map` cannot be of type int"):
        load_map(5)  # type: ignore[arg-type]


def test_published_maps_differ_from_ours_where_it_is_said() -> None:
    factors, xfact = load_map("factors").against(general()), load_map("x-fact").against(general())
    assert factors["satire"] == "unknown", "FACTors calls satire false"
    assert factors["mostly true"] == "true", "FACTors calls it partially true"
    assert xfact["misleading"] == "false", "X-Fact calls it partly true"
    assert "false" not in factors
    assert "false" not in xfact
    assert general().against(general()) == {}
