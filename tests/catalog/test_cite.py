"""Citations as BibTeX: every card's, and the parts of a few."""

from __future__ import annotations

import re

import pytest

from claimlab.catalog.citation import CitedWork, bibtex, works
from claimlab.catalog.load import DATASETS

FIELD = re.compile(r"^  (\w+) = \{(.*)\},$")


@pytest.mark.parametrize("name", DATASETS.names())
def test_every_card_gives_a_whole_entry(name: str) -> None:
    card = DATASETS.get(name).card
    entries = bibtex(card).split("\n\n")
    assert entries[0], card.citation
    keys = []
    for entry in entries:
        head, *lines, tail = entry.split("\n")
        assert re.fullmatch(r"@misc\{[a-z]+\d*-[a-z0-9-]+,", head), head
        assert tail == "}"
        fields = dict(FIELD.fullmatch(line).groups() for line in lines)  # type: ignore[union-attr]
        assert fields["author"]
        assert len(fields["title"]) > 5
        assert name == "bluff" or re.fullmatch(r"(19|20)\d\d", fields["year"])
        assert entry.count("{") - entry.count("\\{") == entry.count("}") - entry.count("\\}")
        keys.append(head)
    assert len(set(keys)) == len(keys)
    assert re.match("https?://", card.homepage or ""), "every card leads to the dataset or its DOI"
    assert f"url = {{{card.homepage}}}" in entries[0]


def test_parts_of_a_citation() -> None:
    given = "Doe, de la Roe and Poe et al. (2020), Salt, Sand & Sea: A Tale, River Journal 3(2); (2021), More Salt, ACL."
    assert works(given) == [
        CitedWork(
            ("Doe", "de la Roe", "Poe", "others"),
            "2020",
            "Salt, Sand & Sea: A Tale",
            "River Journal 3(2)",
        ),
        CitedWork(("Doe", "de la Roe", "Poe", "others"), "2021", "More Salt", "ACL"),
    ]
