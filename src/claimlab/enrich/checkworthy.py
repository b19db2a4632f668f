"""How check-worthy a sentence looks, by rules: numbers, names and factual verbs against first person and commands.

The weights are set by hand, fitted to no dataset; bench/enrich_pt.py and docs/enrich.md say what they are worth.
Languages without a word list (data/checkworthy.toml) are judged by digits, capitals, punctuation and length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import polars as pl

from claimlab.core import packaged
from claimlab.enrich.chat import plain
from claimlab.enrich.clauses import bare, shortened
from claimlab.enrich.sentences import sentences, words
from claimlab.text.normalise import strip_accents
from claimlab.text.stopwords import stop_words

READ = 75  # words: a sentence that begins within them is read, to its end
LEAST = 4  # words of a claim
STATEMENT = 7  # words that may be a statement though no verb of it is known
WORTHY = 0.1  # the least score of a claim: more must speak for it than against; below, the text is said to make none
HEADLINE = 1.5
LEAD = 0.5
_BARE = re.compile(r"^[^\w$€£]+|\W+$")
_QUESTION = re.compile(r"[?？؟]\s*\W*$")
_STOP = re.compile(r"[.!?…。]\W*$")
_NUMBER = re.compile(r"(?:[A-Z]{0,2}[$€£])?\d")  # "R$30" and "3rd", not "covid-19"
_PART = re.compile(r"(?<=;)\s+")
_SIGNS = " !:;,.–—-"
Cues = dict[str, frozenset[str]]


@cache
def cues(language: str | None) -> Cues:
    """The word lists of a language; each word also without accents, where that is not another word."""
    listed = packaged.toml("claimlab.enrich", "checkworthy.toml").get(language or "", {})
    other = stop_words(language) if language and listed else frozenset[str]()
    return {
        kind: frozenset(words) if kind == "endings" else frozenset(words) | (frozenset(_folded(words)) - other)
        for kind, words in listed.items()
    }


def _folded(listed: list[str]) -> list[str]:
    bare: list[str] = strip_accents(pl.Series(listed, dtype=pl.String)).to_list()
    return [plain for plain, word in zip(bare, listed, strict=True) if plain != word]


@dataclass(frozen=True)
class Candidate:
    """A sentence of a text, and the claim in it. `headline`: it has a line of its own at the top; `lead`: it is the
    first."""

    sentence: str
    claim: str
    headline: bool = False
    lead: bool = False


def score(sentence: str, language: str | None) -> float:
    """Higher is more check-worthy; only the order of two scores, and whether one is above `WORTHY`, mean anything."""
    written = [w for w in (_BARE.sub("", w) for w in words(sentence.replace("’", "'"))) if w]
    if not written:
        return float("-inf")
    lower, known = [w.lower() for w in written], cues(language)
    numbers = sum(bool(_NUMBER.match(w)) for w in written)
    verbs = sum(is_verb(w, language) for w in lower)
    if sum(any(map(str.isdigit, w)) for w in written) * 2 > len(written):
        return float("-inf")  # a date, a time, a telephone number
    total = (1.0 if verbs or not known else 0.5) * min(2, numbers) + 0.6 * min(3, _names(written)) + 0.8 * min(2, verbs)
    total -= 1.0 * min(2, _count(lower, known, "person"))
    total -= 0.8 * min(2, _count(lower, known, "opinion"))
    total -= 1.0 * min(2, _count(lower, known, "call"))
    linked = len(lower) > 1 and _begins(lower, known, "links")
    opening = lower[1:] if linked else lower
    total -= 0.8 * linked + 2.0 * _begins(opening, known, "command") + 2.0 * _begins(opening, known, "pointing")
    total -= 2.5 * (_begins(opening, known, "asks") and not written[0].isupper())
    total -= 4.0 * bool(_QUESTION.search(sentence))
    total -= 0.5 * ("!" in sentence)
    if known and not verbs:  # a heading, a name, a source
        total -= (0.6 if len(written) < STATEMENT else 0.0) + 1.5 * _begins(lower, known, "label")
    total -= 0.5 * written[0][0].islower()
    return total - (1.5 if len(written) < LEAST + 1 else 0.0)


def is_verb(word: str, language: str | None) -> bool:
    """Whether a lower-case word is a verb of a report: by the list, or by its ending."""
    known = cues(language)
    endings = tuple(known.get("endings", ()))
    return word in known.get("factual", ()) or bool(endings and len(word) > 4 and word.endswith(endings))


def _count(written: list[str], known: Cues, kind: str) -> int:
    pairs = [" ".join(pair) for pair in pairwise(written)]
    return sum(w in known.get(kind, ()) for w in [*written, *pairs])


def _begins(written: list[str], known: Cues, kind: str) -> bool:
    return written[0] in known.get(kind, ()) or " ".join(written[:2]) in known.get(kind, ())


def _names(written: list[str]) -> int:
    """Words with a capital inside the sentence; where most words have one, as in a title, it says nothing."""
    long = [w for w in written if len(w) > 3]
    if sum(w[0].isupper() for w in long) * 5 > len(long) * 3:
        return 0
    return sum(1 for w in written[1:] if w[0].isupper() and not (w.isupper() and len(w) > 5))


def best_claims(text: str, language: str | None, *, most: int = 1) -> list[str]:
    """The `most` most check-worthy sentences that begin in the first 75 words, each within its clauses, in the order
    of the text. None where no sentence is worth checking."""
    found = candidates(text, language)
    worth = [_worth(one, language) for one in found]
    ranked = sorted(range(len(found)), key=lambda i: (-worth[i], i))[:most]
    return list(dict.fromkeys(found[i].claim for i in sorted(ranked) if worth[i] >= WORTHY))


def _worth(one: Candidate, language: str | None) -> float:
    own = score(one.sentence, language)
    says = len(words(one.claim)) >= STATEMENT or any(is_verb(bare(w), language) for w in words(one.claim))
    return own + LEAD * one.lead + HEADLINE * (one.headline and own > 0 and says)


def claim_of(sentence: str, language: str | None) -> str:
    """A sentence as a claim: without the call for attention before it, and not longer than its clauses allow."""
    known = cues(language)
    joins, shouts = known.get("joins", frozenset()), known.get("shouts", frozenset())
    stops = stop_words(language) if language else frozenset[str]()
    said = sentence
    while (first := said.split(maxsplit=1)) and bare(first[0]) in shouts:
        said = first[1].lstrip(_SIGNS) if len(first) > 1 else ""
    return shortened(said, joins, stops, lambda word: is_verb(word, language), listed=bool(known))


def candidates(text: str, language: str | None) -> list[Candidate]:
    """The sentences that begin in the first 75 words, as claims. The first line is a headline where it is a sentence of
    its own that does not end like one, and others follow."""
    lines = plain(text).splitlines()
    found: list[Candidate] = []
    read = 0
    for number, line in enumerate(lines):
        cut = [part for sentence in sentences(line) for part in _PART.split(sentence)]
        for sentence in cut if read < READ else []:
            claim = claim_of(sentence, language) if read < READ else ""
            read += len(words(sentence))
            if len(words(claim)) >= LEAST:
                alone = len(cut) == 1 and len(lines) > number + 1 and not _STOP.search(sentence)
                found.append(Candidate(sentence, claim, headline=not found and alone, lead=not found))
    return found
