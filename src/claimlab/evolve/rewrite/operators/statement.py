"""A claim as a statement with at most one phrase round it: "I heard that ...", "..., and that's a
big deal!".

The phrases are in `data/phrases.toml`. Because they are known, a new one takes the place of the
old, and operators that change the statement itself do not see them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from claimlab.core import packaged
from claimlab.core.types import JsonObject
from claimlab.evolve.rewrite.english.clause import Clause, ended, lowered, parse, raised, sentences
from claimlab.evolve.rewrite.operators.operator import Change


@dataclass(frozen=True)
class Phrase:
    """One phrase of the tables: its words before and after the statement, the table it is from, and
    its mark.
    """

    owner: str
    before: str = ""
    after: str = ""
    mark: str = "."


@dataclass(frozen=True)
class Statement:
    """`body` is the first sentence without phrase and mark; `more` are the sentences behind it."""

    body: str
    phrase: Phrase | None = None
    mark: str = "."
    more: str = ""

    def text(self) -> str:
        more = f" {self.more}" if self.more else ""
        if self.phrase is None:
            return f"{raised(self.body)}{self.mark}{more}"
        body = (
            f"{self.phrase.before} {lowered(self.body)}"
            if self.phrase.before
            else raised(self.body)
        )
        return f"{body}{self.phrase.after}{self.mark}{more}"


@cache
def tables() -> dict[str, JsonObject]:
    return packaged.toml("claimlab.evolve.rewrite", "phrases.toml")


@cache
def phrases() -> dict[str, tuple[Phrase, ...]]:
    """Every phrase, by the table it is from."""
    known = {}
    for owner, table in tables().items():
        marks, closes = table.get("marks", {}), table.get("closes", {})
        fronts = [
            Phrase(owner, words, closes.get(words, ""), marks.get(words, "."))
            for words in (*table.get("front", ()), *table.get("that", ()))
        ]
        ends = [
            Phrase(owner, "", words, marks.get(words, "."))
            for name in ("end", "past", "now")
            for words in table.get(name, ())
        ]
        known[owner] = (*fronts, *ends)
    return known


@cache
def _pattern() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, Phrase]]:
    every = [phrase for group in phrases().values() for phrase in group]
    fronts = {p.before: p for p in every if p.before}
    ends = {p.after: p for p in every if p.after and not p.before}

    def any_of(words: Any) -> str:
        return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))

    closes = {p.after for p in every if p.before and p.after}
    front = re.compile(rf"^(?P<words>{any_of(fronts)}) ")
    end = re.compile(rf"(?P<words>{any_of([*ends, *closes])})$")
    return front, end, {**fronts, **ends}


def take_apart(text: str) -> Statement:
    parts = sentences(text)
    if not parts:
        return Statement(text)
    body, mark = ended(parts[0])
    front, end, known = _pattern()
    phrase: Phrase | None = None
    if match := front.match(body):
        phrase, body = known[match["words"]], body[match.end() :]
        if phrase.after and body.endswith(phrase.after):
            body = body[: -len(phrase.after)]
    elif (match := end.search(body)) and match["words"] in known:
        phrase, body = known[match["words"]], body[: match.start()]
    return Statement(raised(body), phrase, mark, " ".join(parts[1:]))


def on_body(change: Callable[[str, random.Random], str]) -> Change:
    """An operator of the first sentence, whatever phrase is round it."""

    def on_text(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
        statement = take_apart(text)
        body = change(statement.body, draw)
        return text if body == statement.body or not body else replace(statement, body=body).text()

    return on_text


def on_clause(change: Callable[[Clause, random.Random], Clause | str | None]) -> Change:
    """An operator of a sentence whose parts can be told; null: nothing to do."""

    def on_sentence(body: str, draw: random.Random) -> str:
        clause = parse(body)
        after = None if clause is None else change(clause, draw)
        return body if after is None else after if isinstance(after, str) else after.text()

    return on_body(on_sentence)
