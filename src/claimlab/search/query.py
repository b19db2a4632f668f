"""What a search asks: one question for every provider, in the words of the house (ISO codes, dates,
plain text).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from claimlab.core.errors import UsageError
from claimlab.core.languages import require
from claimlab.core.types import JsonObject

MAX_RESULTS = 100

# What search engines read as commands. A claim is prose: its quotation marks, minus signs and
# colons are punctuation.
_LEADING_MARKS = re.compile(r"(?<!\S)[-+!:~#@*|/\\&^]+(?=\S)")
_OPERATOR = re.compile(r"(?<!\S)(\w{2,20}):(?=\S)")  # site:, intitle:, lang:
_MARKS = re.compile(r"[\"“”„«»()\[\]{}<>*|\\^~]")
_SHOUTED = re.compile(r"\b(OR|AND|NOT|NEAR)\b")


@dataclass(frozen=True)
class Query:
    """`before` is the last day a result may be dated; providers that cannot filter ignore it (see
    `as_of`).
    """

    text: str
    language: str | None = None  # ISO 639-3
    country: str | None = None  # ISO 3166-1, two letters
    max_results: int = 10
    before: date | None = None

    def __post_init__(self) -> None:
        text = " ".join(self.text.split())
        if not text:
            raise UsageError(
                "A search needs words, and this query is empty.", "Leave out records without text."
            )
        if not 1 <= self.max_results <= MAX_RESULTS:
            raise UsageError(
                f"A search cannot ask for {self.max_results} results.",
                f"Ask for 1 to {MAX_RESULTS} results.",
            )
        if self.country is not None and not re.fullmatch(r"[A-Za-z]{2}", self.country):
            raise UsageError(
                f"'{self.country}' is not a country code.", "Give two letters, such as BR or us."
            )
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "country", self.country.upper() if self.country else None)
        object.__setattr__(self, "language", require(self.language) if self.language else None)

    def plain(self, *, max_chars: int | None = None, max_words: int | None = None) -> str:
        """The words alone, for engines with a query language: no claim's punctuation may become a
        command.
        """
        words = _MARKS.sub(" ", self.text)
        words = _OPERATOR.sub(r"\1 ", words)
        words = _LEADING_MARKS.sub(" ", words)
        words = _SHOUTED.sub(lambda m: m.group().lower(), words)
        first_words = words.split()[:max_words]
        return _cut(" ".join(first_words), max_chars) or self.text

    def to_json(self) -> JsonObject:
        """The question as data: what a recorded call is known by."""
        return {**vars(self), "before": self.before.isoformat() if self.before else None}


def _cut(text: str, limit: int | None) -> str:
    """At most `limit` characters, ending at a word."""
    if limit is None or len(text) <= limit:
        return text
    head = text[: limit + 1]
    return head.rsplit(" ", 1)[0] if " " in head else text[:limit]
