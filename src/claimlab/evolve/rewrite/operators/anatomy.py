"""A claim taken apart and put together: opener, body, tail, the mark at its end, and an example behind it.

Openers and tails are known by the tables (`english.toml`), so a claim never carries two of a kind: what an operator
puts into a place takes out what stood there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from claimlab.core import packaged

EXTRA = " For instance, "  # how an example from the context is attached


@dataclass(frozen=True)
class Phrase:
    """An opener or a tail: the words, and the name of the operator they belong to."""

    words: str
    owner: str


@dataclass(frozen=True)
class Parts:
    body: str
    opener: Phrase | None = None
    tail: Phrase | None = None
    end: str = "."
    extra: str = ""

    def text(self) -> str:
        inside = self.opener is not None and not self.opener.words.endswith("? ")
        body = lowered(self.body) if inside else raised(self.body)
        front, back = (p.words if p is not None else "" for p in (self.opener, self.tail))
        return f"{front}{body}{back}{self.end}{EXTRA + self.extra if self.extra else ''}"

    def without(self, names: frozenset[str]) -> Parts:
        """These parts less the openers and tails of the operators named."""
        opener = None if self.opener is not None and self.opener.owner in names else self.opener
        tail = None if self.tail is not None and self.tail.owner in names else self.tail
        return replace(self, opener=opener, tail=tail)


class Lexicon:
    """The tables, with one pattern for all openers and one for all tails."""

    def __init__(self, tables: dict[str, Any]) -> None:
        self.openers: dict[str, dict[str, Any]] = tables["openers"]
        self.tails: dict[str, dict[str, Any]] = tables["tails"]
        self.words: dict[str, dict[str, Any]] = tables["words"]
        self.common = frozenset(tables["common"]["words"].split())

    @cached_property
    def _owners(self) -> dict[str, str]:
        both = [*self.openers.items(), *self.tails.items()]
        return {phrase.lower(): name for name, entry in both for phrase in entry["phrases"]}

    @cached_property
    def _front(self) -> re.Pattern[str]:
        return re.compile(rf"({_any(self.openers)})", re.IGNORECASE)

    @cached_property
    def _back(self) -> re.Pattern[str]:
        return re.compile(rf"({_any(self.tails)})$", re.IGNORECASE)

    def take_apart(self, text: str) -> Parts:
        main, _, extra = text.partition(EXTRA)
        main = main.strip()
        body = main.rstrip(".!?… ")
        end = main[len(body) :].strip()
        opener = tail = None
        if found := self._front.match(body):
            opener = Phrase(found.group(1), self._owners[found.group(1).lower()])
            body = body[found.end() :]
        if found := self._back.search(body):
            tail = Phrase(found.group(1), self._owners[found.group(1).lower()])
            body = body[: found.start()]
        return Parts(body, opener, tail, end[:1] or ".", extra)


@cache
def lexicon() -> Lexicon:
    return Lexicon(packaged.toml("claimlab.evolve.rewrite", "english.toml"))


def lowered(body: str) -> str:
    """Without its capital, where the first word is no name."""
    first = body.split(" ", 1)[0]
    return body[:1].lower() + body[1:] if first.istitle() and first.lower().strip(",") in lexicon().common else body


def raised(body: str) -> str:
    """With a capital, where the first word is a common one (mRNA keeps its small letter)."""
    first = body.split(" ", 1)[0]
    return body[:1].upper() + body[1:] if first.islower() and first.strip(",") in lexicon().common else body


def _any(entries: dict[str, dict[str, Any]]) -> str:
    phrases = sorted({p for entry in entries.values() for p in entry["phrases"]}, key=lambda p: (-len(p), p))
    return "|".join(re.escape(p) for p in phrases)
