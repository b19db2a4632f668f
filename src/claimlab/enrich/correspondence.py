"""Whether a result is about the claim: the share of the query's content words that its snippet has.

The paper calls a share of at least .8 a correspondence; its notebooks ask for more than .8. Both
are kept by name. Words are compared without case and accents, because people drop accents when they
type. A share of almost nothing says nothing: a long passage holds the two content words of "This is
EXTREMELY SERIOUS!!!" by accident, so a query corresponds only where it has `WORDS` content words
and `LETTERS` letters in them (bench/correspondence.py).

What was found for one record is shown in one order: evidence that corresponds comes first, then
what the search for the claim found, then the rest. The tables, the number of pieces that a detector
is shown, and the detectors all follow it, so it decides what a model reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, get_args

import polars as pl

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject
from claimlab.search.evidence import Evidence
from claimlab.text.guard import Marks, mark
from claimlab.text.normalise import strip_accents
from claimlab.text.stopwords import stop_words_for
from claimlab.text.tokens import tokenize

Rule = Literal["paper", "released"]
SHARE = 0.8
WORDS, LETTERS = 4, 20


class Match(NamedTuple):
    """How a snippet fits a query: the share of the query's content words it holds, how many these
    are, and their letters."""

    share: float
    words: int
    letters: int


def check_rule(rule: str) -> Rule:
    for known in get_args(Rule):
        if rule == known:
            return known  # type: ignore[no-any-return]
    raise UsageError(
        f"'{rule}' is not a valid correspondence rule.", f"Use one of: {', '.join(get_args(Rule))}."
    )


def corresponds(match: Match | None, rule: Rule = "paper") -> bool:
    """Whether a match is enough: a share of at least .8 ("paper") or more than .8 ("released"), of
    enough content.
    """
    if match is None or match.words < WORDS or match.letters < LETTERS:
        return False
    return match.share >= SHARE if rule == "paper" else match.share > SHARE


def matches(query: str, snippets: Sequence[str | None], language: str | None) -> list[Match | None]:
    """How each snippet fits the query; null where there is nothing to compare.

    A query of stop words alone is compared by all its words, and has no content. A language that is
    not known counts as English.
    """
    cut = tokenize(
        strip_accents(pl.Series([query, *snippets], dtype=pl.String)), language=language
    ).to_list()
    query_words = set(cut[0])
    content = query_words - _stop(language)
    wanted, letters = content or query_words, sum(map(len, content))
    return [
        (
            None
            if not wanted or held is None
            else Match(len(wanted & set(held)) / len(wanted), len(content), letters)
        )
        for held in cut[1:]
    ]


def shares(query: str, snippets: Sequence[str | None], language: str | None) -> list[float | None]:
    """Only the shares of `matches`."""
    return [None if match is None else match.share for match in matches(query, snippets, language)]


@cache
def _stop(language: str | None) -> frozenset[str]:
    listed = sorted(stop_words_for([language]))
    return frozenset(strip_accents(pl.Series(listed, dtype=pl.String)).to_list())


CLAIM_STAGES = frozenset({"claim", "factcheck-claim"})
UNDATED = "undated"


@dataclass(frozen=True)
class Piece:
    """`stage` is the search that found it, `match` how it fits what was asked there."""

    evidence: Evidence
    stage: str
    match: Match | None
    as_of: str | None = None

    @property
    def share(self) -> float:
        return 0.0 if self.match is None else self.match.share


def shown_order(pieces: Sequence[Piece], rule: Rule) -> list[Piece]:
    """What corresponds, the best first; then what the search for the claim found; then the rest.
    What has no date, where one was asked for, comes last: it counts as not found."""

    def place(piece: Piece) -> tuple[bool, int, float]:
        if corresponds(piece.match, rule):
            return piece.as_of == UNDATED, 0, -piece.share
        return piece.as_of == UNDATED, 1 if piece.stage in CLAIM_STAGES else 2, 0.0

    return sorted(pieces, key=place)


def marked(record: JsonObject, pieces: Sequence[Piece]) -> list[Marks]:
    return mark(record, [piece.evidence for piece in pieces])


def to_json(piece: Piece, marks: Marks, rule: Rule) -> JsonObject:
    """What the journal and the evidence table keep of a piece."""
    return {
        "evidence": piece.evidence.to_json(),
        "stage": piece.stage,
        "share": None if piece.match is None else round(piece.share, 4),
        "corresponds": corresponds(piece.match, rule),
        "as_of": piece.as_of,
        **marks.__dict__,
    }
