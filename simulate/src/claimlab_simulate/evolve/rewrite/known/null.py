"""The null rewriter: word noise, in any language, without a model.

It knows nothing of meaning or grammar, and no agent writes unlike another. At each hop some words
are left out, some are exchanged for words that follow the same word elsewhere in the claims of the
run, short phrases of other claims (or of the source, where the agent reads it) are taken over, a
number is rounded or lost, a name or a date loses a word, two clauses change places. Rates are in
`data/weights.toml`, measured on the released traces. It answers one question of a drift result: is
this more than word noise?

The log of a hop is computed from its two texts, so it names what is in them and nothing else.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice, pairwise
from typing import TypeVar

from claimlab.core.types import JsonObject
from claimlab.text.changes import UNSPACED_CHARACTER, changes, is_number, is_word, pieces
from claimlab.text.details import TextDetail, details
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.rewrite.weights import Rates, Weights
from claimlab_simulate.evolve.rewriter import Request, Rewrite, Rewriter

FEWEST = 3  # words that a text keeps, so that it never runs out of them
PHRASE = 3  # words that are taken over at most
TRIES = 8  # to draw another word than the one that is exchanged
TEXTS, CHARACTERS = 10_000, 2_000  # that words are drawn from, of each language
Item = TypeVar("Item")
_CLAUSE_END = frozenset(",;:，；：、،؛")


class Words:
    """What some texts offer: every place of a word, by the word before it."""

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

    def phrase(self, before: str, most: int, draw: random.Random, unlike: str = "") -> list[str]:
        """One to `most` words in a row that follow `before` in one of the texts, not beginning with
        `unlike`; after any word where none does.
        """
        following = self.after.get(before.strip().lower(), ())
        for places in (following, *(self.everywhere,) * TRIES):
            others = (
                [at for at in places if self._at(*at) != unlike] if places is following else places
            )
            if others and self._at(*(place := draw.choice(others))) != unlike:
                run = self.runs[place[0]][place[1] :]
                return list(islice(filter(is_word, run), draw.randint(1, most)))
        return []

    def _at(self, number: int, place: int) -> str:
        return self.runs[number][place].lower()


@dataclass(frozen=True, slots=True)
class Edits:
    """How much of each kind of noise one hop makes."""

    drop: int
    exchange: int
    take: int
    numbers: int
    blur: int = 0
    swap: int = 0

    @classmethod
    def drawn(cls, rates: Rates, text: str, language: str | None, draw: random.Random) -> Edits:
        """At the rates of a hop, each word, number or name by itself."""
        parts = pieces(text)
        words = sum(map(is_word, parts))
        units = {
            "drop": words,
            "exchange": words,
            "take": words,
            "numbers": sum(map(is_number, parts)),
            "blur": len(compounds(text, language)),
            "swap": 1,
        }
        rate = rates.model_dump()
        return cls(**{k: sum(draw.random() < rate[k] for _ in range(n)) for k, n in units.items()})

    @classmethod
    def observed(cls, before: str, after: str) -> Edits:
        """As many words as a rewrite left out, exchanged and added."""
        old, new = ([piece.strip().lower() for piece in pieces(text)] for text in (before, after))
        drop = exchange = take = 0
        for _, start, end, first, last in SequenceMatcher(None, old, new, False).get_opcodes():
            gone, come = old[start:end], new[first:last]
            if gone != come:
                left, right = sum(map(is_word, gone)), sum(map(is_word, come))
                both = min(left, right)
                drop, exchange, take = drop + left - both, exchange + both, take + right - both
        lost = sum(is_number(piece) and piece not in new for piece in old)
        return cls(drop, exchange, take, lost)


def noised(
    text: str, language: str | None, edits: Edits, sources: Sequence[Words], draw: random.Random
) -> str:
    """The text after that many edits, at places drawn at random."""
    for detail in _some(compounds(text, language), edits.blur, draw):
        text = _blurred(text, detail)
    parts = _swapped(pieces(text), draw) if edits.swap else pieces(text)
    places = [i for i, part in enumerate(parts) if is_word(part)]
    dropped = set(_some(places, min(edits.drop, len(places) - FEWEST), draw))
    rest = [i for i in places if i not in dropped]
    exchanged = set(_some(rest, edits.exchange, draw))
    lost = set(_some([i for i, part in enumerate(parts) if is_number(part)], edits.numbers, draw))
    out: list[str] = []
    for i, part in enumerate(parts):
        if i in exchanged:
            before, word = out[-1] if out else "", part.strip().lower()
            words = draw.choice(sources).phrase(before, 1, draw, word)
            out.append(words[0] + _blanks(part) if words else part)
        elif i in dropped:
            out = _without(out, part)
        else:
            out = _with_number(out, part) if i in lost else [*out, part]
    return "".join(_with_phrases(out, edits.take, sources, draw)).strip()


def compounds(text: str, language: str | None) -> list[TextDetail]:
    """Names and dates of several words, the last first: what can lose a word and still name
    something.
    """
    found = [
        detail for detail in details(text, language) if detail.kind in ("date", "name", "place")
    ]
    return [detail for detail in reversed(found) if " " in text[detail.start : detail.end]]


def _some(items: Sequence[Item], count: int, draw: random.Random) -> list[Item]:
    """`count` of the items, in their order; all where there are fewer."""
    chosen = sorted(draw.sample(range(len(items)), max(0, min(count, len(items)))))
    return [items[i] for i in chosen]


def _blurred(text: str, detail: TextDetail) -> str:
    """A name or date without its first word, and without "of" behind it: "March 2023"."""
    words = text[detail.start : detail.end].split(" ")[1:]
    while len(words) > 1 and words[0].islower() and len(words[0]) < 4:
        words = words[1:]
    return text[: detail.start] + " ".join(words) + text[detail.end :]


class Null(Rewriter):
    name = "null"

    def __init__(self, rates: Rates, texts: Mapping[str | None, Sequence[str]]) -> None:
        self.rates = rates
        self._claims = {language: Words(some[:TEXTS]) for language, some in texts.items()}
        self._read = lru_cache(maxsize=1_024)(Words)

    async def rewrite(self, request: Request) -> Rewrite:
        await asyncio.sleep(0)  # nothing here waits: without this, Ctrl-C would be heard late
        return self.turn(request)

    def describe(self) -> JsonObject:
        return {"rewriter": self.name, "rates": self.rates.model_dump()}

    def turn(self, request: Request) -> Rewrite:
        draw = random.Random(request.seed)
        if not request.must_rewrite and draw.random() >= self.rates.producers:
            return Rewrite(request.text, "bystander", reason="Passed on as it came.")
        edits = Edits.drawn(self.rates, request.text, request.language, draw)
        text = noised(request.text, request.language, edits, self._sources(request), draw)
        log = changes(request.text, text)
        if not log:
            return Rewrite(text, "bystander", reason="Noise changed nothing.")
        return Rewrite(text, "producer", tuple(log), reason="Word noise, whoever the agent is.")

    def _sources(self, request: Request) -> list[Words]:
        """The other claims in the language of this one, and what the agent reads beside it."""
        words = self._claims.get(request.language) or self._read((request.text,))
        source = (request.context, *request.evidence) if request.context else request.evidence
        return [words, self._read(tuple(filter(None, source)))] if source else [words]


def _blanks(part: str) -> str:
    return part[len(part.rstrip()) :]


def _without(text: list[str], part: str) -> list[str]:
    """What was before a word that is left out, with the blanks that were behind it."""
    return [*text[:-1], text[-1].rstrip() + _blanks(part)] if text else text


def _with_phrases(
    parts: list[str], count: int, sources: Sequence[Words], draw: random.Random
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
    blank = "" if UNSPACED_CHARACTER.match(words[0]) else " "
    run = [part.rstrip(), *words]
    return [*(word + blank for word in run[:-1]), run[-1] + _blanks(part)]


def _with_number(text: list[str], part: str) -> list[str]:
    """A number without its last significant digit: 47 becomes 40, and 40 is lost."""
    significant = [i for i, digit in enumerate(part) if digit.isdecimal() and int(digit)]
    if len(significant) < 2:
        return _without(text, part)
    at = significant[-1]
    zero = chr(ord(part[at]) - int(part[at]))
    return [*text, part[:at] + zero + part[at + 1 :]]


def _swapped(parts: list[str], draw: random.Random) -> list[str]:
    """Two neighbouring clauses change places, where there are two; marks stay."""
    ends = [i for i, part in enumerate(parts) if part[0] in _CLAUSE_END]
    last = max((i + 1 for i, part in enumerate(parts) if part[0].isalnum()), default=0)
    spans = list(pairwise([-1, *(end for end in ends if end < last), last]))
    if len(spans) < 2:
        return parts
    which = draw.randrange(len(spans) - 1)
    (start, middle), (_, end) = spans[which], spans[which + 1]
    first, second = parts[start + 1 : middle], parts[middle + 1 : end]
    return [*parts[: start + 1], *second, parts[middle], *first, *parts[end:]]


def REWRITER(settings: ActorSettings) -> Null:
    """Open the null rewriter with the user's rates, or those that ship, over the claims of the
    run.
    """
    return Null(Weights.read(settings.weights).null, settings.texts)
