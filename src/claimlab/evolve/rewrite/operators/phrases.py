"""Operators made of the tables alone: openers, tails and word pairs. A new one is a new table in `english.toml`."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from claimlab.evolve.claims.model import Target
from claimlab.evolve.rewrite.operators.anatomy import Lexicon, Parts, Phrase, lexicon
from claimlab.evolve.rewrite.operators.operator import Change, Operator

_SPACES = re.compile(r"\s+([,.;:!?])|\s{2,}")


def phrase_operators() -> Iterator[Operator]:
    words = lexicon()
    for place, entries in (("opener", words.openers), ("tail", words.tails)):
        for name, entry in entries.items():
            change = _puts(words, name, entry, "opener" if place == "opener" else "tail")
            yield Operator(name, entry["summary"], change, _serves(entry))
    for name, entry in words.words.items():
        yield Operator(name, entry["summary"], _exchanges(words, entry), _serves(entry))


def _puts(words: Lexicon, name: str, entry: dict[str, Any], place: Literal["opener", "tail"]) -> Change:
    phrases: list[str] = entry["phrases"]
    already = _whole_words(entry.get("already", []))
    end: str | None = entry.get("end")

    def change(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
        parts = words.take_apart(text)
        here = parts.opener if place == "opener" else parts.tail
        if (here is not None and here.owner == name) or (already is not None and already.search(parts.body)):
            return text
        chosen = Phrase(draw.choice(phrases), name)
        changed = replace(parts, opener=chosen) if place == "opener" else replace(parts, tail=chosen)
        return replace(changed, end=_end(words, changed, end)).text()

    return change


def _end(words: Lexicon, parts: Parts, wanted: str | None) -> str:
    """A tail that ends in its own mark keeps it; a question mark without such a tail becomes a full stop again."""
    own = words.tails[parts.tail.owner].get("end") if parts.tail is not None else None
    return str(own or wanted or ("." if parts.end == "?" else parts.end))


def _exchanges(words: Lexicon, entry: dict[str, Any]) -> Change:
    pairs: dict[str, str] = entry["pairs"]
    pattern = _whole_words(pairs)
    clears = frozenset(entry.get("clears", []))
    end: str | None = entry.get("end")
    assert pattern is not None

    def swap(found: re.Match[str]) -> str:
        new = pairs[found.group(0).lower()]
        return new[:1].upper() + new[1:] if found.group(0)[:1].isupper() else new

    def change(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
        parts = words.take_apart(text)
        body = _SPACES.sub(lambda m: m.group(1) or " ", pattern.sub(swap, parts.body)).strip()
        after: Parts = replace(parts.without(clears), body=body)
        after = replace(after, end=_end(words, after, end))
        return after.text() if after != parts else text

    return change


def _whole_words(words: Any) -> re.Pattern[str] | None:
    """One pattern for all, the longest first; apostrophes and hyphens count as parts of a word."""
    listed = sorted(words, key=lambda w: (-len(w), w))
    if not listed:
        return None
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(map(re.escape, listed))})(?![\w'’-])", re.IGNORECASE)


def _serves(entry: dict[str, Any]) -> tuple[Target, ...]:
    return tuple(Target.parse(t) for t in entry.get("serves", []))
