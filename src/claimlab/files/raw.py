"""What a reader found in one file: a table of text, how the file was laid out, and which rows it
refused and why.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import polars as pl

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject

Quotes = Literal[
    "double", "escape", "none"
]  # doubled inside a cell | preceded by a backslash | part of the text

LISTED = 1_000  # refused rows kept with their line number; all of them are counted
_DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
_QUOTES = {
    "double": "quotes around cells",
    "escape": "quotes escaped by backslash",
    "none": "quotes are text",
}


@dataclass(frozen=True)
class Options:
    """What the user knows of a file; null = find out."""

    encoding: str | None = None
    delimiter: str | None = None
    quotes: Quotes | None = None
    header: bool | None = None
    sheet: str | None = None

    @classmethod
    def of(cls, words: Options | Mapping[str, Any]) -> Options:
        """The options from words, as a person writes them: a delimiter may be "tab", quotes may be
        "auto".
        """
        if isinstance(words, Options):
            return words
        names = [field.name for field in fields(cls)]
        if unknown := [name for name in words if name not in names]:
            raise UsageError(
                f"`options` cannot have '{unknown[0]}'.", f"Use some of: {', '.join(names)}."
            )
        quotes, delimiter = words.get("quotes") or "auto", words.get("delimiter")
        if quotes not in ("auto", *_QUOTES):
            raise UsageError(
                f"`quotes` cannot be '{quotes}'.", f"Use one of: auto, {', '.join(_QUOTES)}."
            )
        by_name = {"\\t": "\t", **{name: sign for sign, name in _DELIMITERS.items()}}
        more = {
            "quotes": None if quotes == "auto" else quotes,
            "delimiter": by_name.get(delimiter or "", delimiter),
        }
        return cls(**{**words, **more})


@dataclass(frozen=True)
class Layout:
    """How a file was read. `format` is CSV, TSV, JSON, JSON lines, Parquet, Excel or text."""

    format: str
    encoding: str | None = None
    delimiter: str | None = None
    quotes: Quotes | None = None
    header: bool | None = None

    def describe(self) -> str:
        """A few words for a person: CSV, utf-8, comma, quotes around cells, header."""
        words = [self.format]
        if self.encoding:
            words.append(self.encoding)
        if self.delimiter:
            words.append(_DELIMITERS.get(self.delimiter, repr(self.delimiter)))
        if self.quotes:
            words.append(_QUOTES[self.quotes])
        if self.header is not None:
            words.append("header" if self.header else "no header")
        return ", ".join(words)

    def parameters(self) -> JsonObject:
        """For the lineage: what a later reader needs to read the file in the same way."""
        known = {
            "format": self.format,
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "quotes": self.quotes,
        }
        return {**{k: v for k, v in known.items() if v is not None}, "header": self.header}


@dataclass
class Refused:
    """Rows that could not be read: how many for each reason, and the first of them by line."""

    reasons: Counter[str] = field(default_factory=Counter)
    listed: list[tuple[int, str]] = field(
        default_factory=list
    )  # line number, reason with its particulars
    unit: str = "line"  # what the numbers count: lines of a file, or records of a JSON list

    @property
    def total(self) -> int:
        return self.reasons.total()

    def add(self, line: int, reason: str, particulars: str | None = None) -> None:
        self.reasons[reason] += 1
        if len(self.listed) < LISTED:
            self.listed.append((line, particulars or reason))


@dataclass
class RawTable:
    """Every column is text; null where a cell is empty. Columns in `literal` hold JSON values (5,
    true, ["a"]).
    """

    name: str
    frame: pl.DataFrame
    layout: Layout
    literal: frozenset[str] = frozenset()
    refused: Refused = field(default_factory=Refused)
    blank: int = 0  # rows without a single character, left out
    notes: list[str] = field(default_factory=list)

    @property
    def rows_read(self) -> int:
        return self.frame.height + self.refused.total


def unique_names(cells: Iterable[str | None]) -> list[str]:
    """Header cells stripped of marks and whitespace; empty ones numbered, repeated ones
    suffixed.
    """
    out: dict[str, None] = {}
    for i, raw in enumerate(cells):
        name = base = (raw or "").strip().lstrip("\ufeff").strip() or f"column_{i + 1}"
        number = 2
        while name in out:
            name = f"{base}_{number}"
            number += 1
        out[name] = None
    return list(out)


def as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
