"""The null rewriter: word noise, in any language, without a model.

It knows nothing of meaning or grammar, and no agent writes unlike another. At each hop some words
are left out, some are exchanged for words that stand after the same word elsewhere in the claims of
the run, short phrases of other claims (or of the source, where the agent reads it) are taken over,
a number is rounded or lost, two clauses change places. Rates are in `data/weights.toml`, measured
on the released traces. It answers one question of a drift result: is this more than word noise?

The log of a hop is computed from its two texts (`changes`), so it names what is in them and nothing
else.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice, pairwise

from claimlab.core.types import JsonObject
from claimlab.evolve.rewrite.rewriter import Request, Rewrite, Settings
from claimlab.evolve.rewrite.weights import Rates, Weights
from claimlab.text.tokens import UNSPACED

FEWEST = 3  # words that a text keeps, so that it never runs out of them
PHRASE = 3  # words that are taken over at most
TEXTS, CHARACTERS = 10_000, 2_000  # that words are drawn from, of each language
_ONE = "[" + re.sub(r"\\x\{([0-9a-f]+)\}", lambda code: f"\\U{code[1]:0>8}", UNSPACED) + "]"
_UNSPACED = re.compile(_ONE)
# Accents, points and vowel signs, which Python does not count as parts of words.
_SIGNS = (
    r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
# A number, a character of a script without spaces, a word, or a mark; each with the blanks behind.
_PIECE = re.compile(
    rf"(?:\d+(?:[.,]\d+)*|{_ONE}(?:(?!\w){_ONE})*|[^\W\d](?:(?!{_ONE})[\w'’{_SIGNS}-])*|\S)\s*|\s+"
)
_CLAUSE_END = frozenset(",;:，；：、،؛")
Log = list[JsonObject]


def pieces(text: str) -> list[str]:
    """A text cut into words, numbers and marks that together are the text."""
    return _PIECE.findall(text)


def is_word(piece: str) -> bool:
    return piece[0].isalpha()


def is_number(piece: str) -> bool:
    return piece[0].isdecimal()


def changes(before: str, after: str) -> Log:
    """What took one text to the next: where (a character of the first text), what stood there, and
    what the second has in its place.
    """
    old, new = pieces(before), pieces(after)
    places = [0]
    for piece in old:
        places.append(places[-1] + len(piece))
    log = []
    for tag, start, end, from_new, to_new in SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            gone, come = "".join(old[start:end]), "".join(new[from_new:to_new])
            name = "replace" if gone and come else "remove" if gone else "add"
            log.append({"name": name, "at": places[start], "before": gone, "after": come})
    return log


class Words:
    """What some texts offer: every place of a word, by the word that stands before it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.runs = [
            [piece.strip() for piece in pieces(text[:CHARACTERS].strip())] for text in texts
        ]
        self.after: dict[str, list[tuple[int, int]]] = {}
        self.everywhere: list[tuple[int, int]] = []
        for number, run in enumerate(self.runs):
            for place, (before, word) in enumerate(pairwise(["", *run])):
                if is_word(word):
                    self.after.setdefault(before.lower(), []).append((number, place))
                    self.everywhere.append((number, place))

    def phrase(self, before: str, most: int, draw: random.Random) -> list[str]:
        """One to `most` words in a row that stand after `before` in one of the texts; after any
        word where none does.
        """
        places = self.after.get(before.strip().lower()) or self.everywhere
        if not places:
            return []
        number, place = draw.choice(places)
        return list(islice(filter(is_word, self.runs[number][place:]), draw.randint(1, most)))


class Null:
    name = "null"

    def __init__(self, rates: Rates, texts: Mapping[str | None, Sequence[str]]) -> None:
        self.rates = rates
        self._claims = {language: Words(some[:TEXTS]) for language, some in texts.items()}
        self._read = lru_cache(maxsize=1_024)(Words)

    async def rewrite(self, request: Request) -> Rewrite:
        await asyncio.sleep(0)  # nothing here waits: without this, Ctrl-C would be heard late
        return self.turn(request)

    async def close(self) -> None:
        """Nothing is held."""

    def describe(self) -> JsonObject:
        return {"rewriter": self.name, "rates": self.rates.model_dump()}

    def turn(self, request: Request) -> Rewrite:
        draw = random.Random(request.seed)
        if not request.must_rewrite and draw.random() >= self.rates.producers:
            return Rewrite(request.text, "bystander", reason="Passed on as it came.")
        sources = self._sources(request)
        parts = _swapped(pieces(request.text), self.rates.swap, draw)
        taken = sum(is_word(part) and draw.random() < self.rates.take for part in parts)
        parts = _with_phrases(self._noise(parts, sources, draw), taken, sources, draw)
        text = "".join(parts).strip()
        log = changes(request.text, text)
        if not log:
            return Rewrite(text, "bystander", reason="Noise changed nothing.")
        return Rewrite(text, "producer", tuple(log), reason="Word noise, whoever the agent is.")

    def _sources(self, request: Request) -> list[Words]:
        """The other claims in the language of this one, and what the agent reads beside it."""
        known = self._claims.get(request.language) or self._read((request.text,))
        source = (request.context, *request.evidence) if request.context else request.evidence
        return [known, self._read(tuple(filter(None, source)))] if source else [known]

    def _noise(self, parts: list[str], sources: list[Words], draw: random.Random) -> list[str]:
        """Word by word: left out, exchanged or kept."""
        spare = sum(map(is_word, parts)) - FEWEST
        text: list[str] = []
        for part in parts:
            chance = draw.random()
            if is_number(part):
                text = _with_number(text, part, lost=chance < self.rates.numbers)
            elif not is_word(part):
                text.append(part)
            elif chance < self.rates.drop and spare > 0:
                spare -= 1
                text = _without(text, part)
            elif 0 <= chance - self.rates.drop < self.rates.exchange:
                before = text[-1] if text else ""
                text.append(_in_place_of(part, draw.choice(sources).phrase(before, 1, draw)))
            else:
                text.append(part)
        return text


def _blanks(part: str) -> str:
    return part[len(part.rstrip()) :]


def _without(text: list[str], part: str) -> list[str]:
    """What stood before a word that is left out, with the blanks that stood behind it."""
    return [*text[:-1], text[-1].rstrip() + _blanks(part)] if text else text


def _in_place_of(part: str, words: list[str]) -> str:
    return words[0] + _blanks(part) if words else part


def _with_phrases(
    parts: list[str], count: int, sources: list[Words], draw: random.Random
) -> list[str]:
    """`count` words more, in phrases behind pieces drawn at random."""
    while count > 0 and parts:
        at = draw.randrange(len(parts))
        words = draw.choice(sources).phrase(parts[at], min(count, PHRASE), draw)
        if not words:
            break
        parts[at : at + 1] = _followed(parts[at], words)
        count -= len(words)
    return parts


def _followed(part: str, words: list[str]) -> list[str]:
    """A word and the words that are taken over behind it; scripts without spaces get none."""
    blank = "" if _UNSPACED.match(words[0]) else " "
    run = [part.rstrip(), *words]
    return [*(word + blank for word in run[:-1]), run[-1] + _blanks(part)]


def _with_number(text: list[str], part: str, *, lost: bool) -> list[str]:
    """A number as it is, or without its last significant digit: 47 becomes 40, and 40 is lost."""
    significant = [i for i, digit in enumerate(part) if digit.isdecimal() and int(digit)]
    if not lost:
        return [*text, part]
    if len(significant) < 2:
        return _without(text, part)
    at = significant[-1]
    zero = chr(ord(part[at]) - int(part[at]))
    return [*text, part[:at] + zero + part[at + 1 :]]


def _swapped(parts: list[str], rate: float, draw: random.Random) -> list[str]:
    """Two neighbouring clauses change places, at `rate` where there are two; marks stay."""
    ends = [i for i, part in enumerate(parts) if part[0] in _CLAUSE_END]
    last = max((i + 1 for i, part in enumerate(parts) if part[0].isalnum()), default=0)
    spans = list(pairwise([-1, *(end for end in ends if end < last), last]))
    if draw.random() >= rate or len(spans) < 2:
        return parts
    which = draw.randrange(len(spans) - 1)
    (start, middle), (_, end) = spans[which], spans[which + 1]
    first, second = parts[start + 1 : middle], parts[middle + 1 : end]
    return [*parts[: start + 1], *second, parts[middle], *first, *parts[end:]]


def REWRITER(settings: Settings) -> Null:
    """Open the null rewriter with the user's rates, or those that ship, over the claims of the
    run.
    """
    return Null(Weights.read(settings.weights).null, settings.texts)
