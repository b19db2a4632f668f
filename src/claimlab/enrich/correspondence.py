"""Whether a result is about the claim: four tests that must all agree (rule "measured").

1. Words in both directions, weighted by their rarity in the dataset: how much of the claim a
   snippet of 25 to 40 words holds, and how much of the snippet is the claim. Long passages hold the
   words of almost any short text, so the snippet that fits best is compared.
2. The claim has `LEAST_CONTENT_WORDS` content words and `LEAST_LETTERS` letters in them: of
   "This is EXTREMELY SERIOUS!!!" nothing can be said.
3. Names and numbers agree: the result has a name of the claim, and a number, where both have some.
4. Meaning: the cosine of sentence vectors, where the encoder knows the language.

The floors were chosen on pairs that do not belong together, of which at most 1 in 100 may pass
(bench/correspondence.py). The paper asks for a share of at least .8 of the query's content words;
its notebooks for more than .8. Both are kept by name ("paper", "released"), on snippets. Words are
compared without case and accents, because people drop accents when they type.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from math import log
from typing import Literal, NamedTuple, get_args

import polars as pl

from claimlab.search.fusion import SentenceEncoder
from claimlab.search.passage import snippets
from claimlab.text.details import names, numbers
from claimlab.text.details import words as all_words
from claimlab.text.normalise import strip_accents
from claimlab.text.stopwords import ENGLISH, stop_words
from claimlab.text.tokens import tokenize

Rule = Literal["measured", "paper", "released"]
RULES: tuple[Rule, ...] = get_args(Rule)
LEAST_SHARE_OF_PAPER = 0.8
LEAST_CONTENT_WORDS, LEAST_LETTERS = 4, 20
_POSSESSIVE = re.compile(r"['’]s\b")
LEAST_HELD, LEAST_FOCUS, LEAST_COSINE = 0.5, 0.2, 0.45
LEAST_HELD_ALONE = 0.6  # where the meaning is not measured


class Match(NamedTuple):
    """How the best snippet of a result fits a query: the share of the query's content words that it
    has, how many these are, and their letters; the same share and the share of the snippet that is
    the query, both by rarity; whether names and numbers agree; and the cosine (null: not
    measured)."""

    share: float
    words: int
    letters: int
    held: float = 0.0
    focus: float = 0.0
    agrees: bool = True
    cosine: float | None = None
    snippet: str = ""


def corresponds(match: Match | None, rule: Rule = "measured") -> bool:
    """Whether a match is enough."""
    if match is None or match.words < LEAST_CONTENT_WORDS or match.letters < LEAST_LETTERS:
        return False
    if rule == "paper":
        return match.share >= LEAST_SHARE_OF_PAPER
    if rule == "released":
        return match.share > LEAST_SHARE_OF_PAPER
    if match.focus < LEAST_FOCUS or not match.agrees:
        return False
    if match.cosine is None:
        return match.held >= LEAST_HELD_ALONE
    return match.held >= LEAST_HELD and match.cosine >= LEAST_COSINE


class Rarity:
    """How much a word weighs: the rarer in a collection of texts, the more. Without any, all weigh
    the same."""

    def __init__(self, texts: Iterable[str | None] = ()) -> None:
        lists = _words([text for text in texts if text], None)
        self.texts = len(lists)
        self.having = Counter(word for words in lists for word in set(words or ()))

    def of(self, words: Iterable[str]) -> float:
        return sum(1 + log((1 + self.texts) / (1 + self.having[word])) for word in words)


def matches(
    query: str,
    results: Sequence[str | None],
    language: str | None,
    rarity: Rarity | None = None,
    meaning: SentenceEncoder | None = None,
) -> list[Match | None]:
    """How each result fits the query; null where there is nothing to compare.

    A query of stop words alone is compared by all its words, and has no content. A language that is
    not known counts as English.
    """
    parts = [snippets(result or "") for result in results]
    lists = _words(
        [query, *(part for snippets_of_result in parts for part in snippets_of_result)], language
    )
    query_words, cut = set(lists[0] or ()), iter(lists[1:])
    content = query_words - _stop(language)
    wanted, letters = content or query_words, sum(map(len, content))
    if not wanted:
        return [None] * len(results)
    weigh = (rarity or Rarity()).of
    whole = weigh(wanted)
    best_matches: list[Match | None] = []
    for result, snippets_of_result in zip(results, parts, strict=True):
        fits = []
        for part in snippets_of_result:
            words = set(next(cut) or ())
            shared, rest = wanted & words, words - _stop(language)
            held, focus = _share(weigh(shared), whole), _share(weigh(shared), weigh(rest))
            plain = _share(len(shared), len(wanted))
            fits.append(Match(plain, len(content), letters, held, focus, snippet=part))
        best = max(fits, key=lambda fit: (fit.held, fit.focus), default=None)
        best_matches.append(best and best._replace(agrees=agrees(query, result or "", language)))
    return _with_meaning(query, best_matches, language, meaning)


def _share(part: float, whole: float) -> float:
    return part / (whole or 1)


def agrees(query: str, result: str, language: str | None) -> bool:
    """Whether the result has a name of the query, and a number of it, where both have some."""
    wanted = names(_POSSESSIVE.sub("", query), language)
    if wanted and not wanted & all_words(_POSSESSIVE.sub("", result)):
        return False
    own, others = numbers(query), numbers(result)
    return not own or not others or bool(set(own) & set(others))


def _with_meaning(
    query: str, fits: list[Match | None], language: str | None, meaning: SentenceEncoder | None
) -> list[Match | None]:
    """With the cosine, where it can be measured."""
    texts = [fit.snippet for fit in fits if fit is not None]
    if meaning is None or language not in meaning.languages or not texts:
        return fits
    vectors = meaning.encode([query, *texts])
    cosines = iter((vectors[1:] @ vectors[0]).tolist())
    return [fit and fit._replace(cosine=round(next(cosines), 4)) for fit in fits]


def shares(query: str, results: Sequence[str | None], language: str | None) -> list[float | None]:
    """The share of the query's content words that each whole result has."""
    first, *others = _words([query, *results], language)
    wanted = set(first or ()) - _stop(language) or set(first or ())
    return [
        None if not wanted or words is None else len(wanted & set(words)) / len(wanted)
        for words in others
    ]


def _words(texts: Sequence[str | None], language: str | None) -> list[list[str] | None]:
    plain = strip_accents(pl.Series(texts, dtype=pl.String))
    return tokenize(plain, language=language).to_list()


@cache
def _stop(language: str | None) -> frozenset[str]:
    listed = sorted(stop_words(language or ENGLISH))
    return frozenset(strip_accents(pl.Series(listed, dtype=pl.String)).to_list())
