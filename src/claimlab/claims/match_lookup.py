"""How claims are looked up in an archive: by words, and by meaning where the language of the claim
is one that the sentence vectors know. And what is not measured of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate

import polars as pl

from claimlab.core.stats.scores import Floats32
from claimlab.search.evidence import Evidence
from claimlab.search.local import LocalIndex
from claimlab.search.passage import said
from claimlab.search.query import Query
from claimlab.text.vectors import LANGUAGES, by_words_only, spoken

CHARACTERS_SEARCHED = 1 << 20  # characters of a fact-check
UNDETERMINED = "und"


def vectors_of_texts(texts: Sequence[str]) -> Floats32:
    from claimlab.text.kept_vectors import vectors_of

    return vectors_of(texts)


class Lookup:
    """The claims of a table, ready to be looked up in an archive."""

    def __init__(self, archive: LocalIndex, claims: pl.DataFrame) -> None:
        self.archive = archive
        self.claims = claims
        self.by_meaning = archive.vectors is not None
        self._place = {id: place for place, id in enumerate(claims["id"])}

    def best(self, id: str, most: int, *, without: Collection[int] = ()) -> list[Evidence]:
        """The best fact-checks for a claim, as if the documents `without` were not there."""
        place = self._place[id]
        text, language = self.claims["text"][place], self.claims["language"][place]
        query, own = Query(text, language=language, max_results=most), None
        if self.by_meaning and self._languages[place] in LANGUAGES:
            query = replace(query, language=self._languages[place])
            own = self._vectors[self._ends[place] - len(self._said[place]) : self._ends[place]]
        return self.archive.search(query, passage=CHARACTERS_SEARCHED, vectors=own, without=without)

    @property
    def by_words(self) -> int:
        """How many claims are compared by words alone."""
        if not self.by_meaning:
            return self.claims.height
        return sum(code not in LANGUAGES for code in self._languages)

    @property
    def not_measured(self) -> dict[str, int]:
        """How many claims, and how many fact-checks, cannot be compared by meaning because of
        their language, in words."""
        if not self.by_meaning:
            return {}
        named = Counter(self.archive.manifest.languages)
        del named[UNDETERMINED]
        return {
            f"{what} by meaning ({why})": n
            for what, languages in (("claims", self._languages), ("fact-checks", named.elements()))
            for why, n in by_words_only(languages).items()
        }

    @cached_property
    def _languages(self) -> list[str | None]:
        return spoken(self.claims["text"], self.claims["language"])

    @cached_property
    def _said(self) -> list[list[str]]:
        return [said(text) for text in self.claims["text"]]

    @cached_property
    def _ends(self) -> list[int]:
        return [*accumulate(len(statements) for statements in self._said)]

    @cached_property
    def _vectors(self) -> Floats32:
        return vectors_of_texts([one for statements in self._said for one in statements])
