"""How a file is laid out: what the user knows of it, and how it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject
from claimlab.files.marks import Quotes

_DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
_QUOTES = {
    "double": "quotes around cells",
    "escape": "quotes escaped by backslash",
    "none": "quotes are text",
}


@dataclass(frozen=True)
class ReadOptions:
    """What the user knows of a file; null = find out."""

    encoding: str | None = None
    delimiter: str | None = None
    quotes: Quotes | None = None
    header: bool | None = None
    sheet: str | None = None

    @classmethod
    def of(cls, words: ReadOptions | Mapping[str, Any]) -> ReadOptions:
        """The options from words, as a person writes them: a delimiter may be "tab", quotes may be
        "auto".
        """
        if isinstance(words, ReadOptions):
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
class FileLayout:
    """How a file was read. `format` is CSV, TSV, JSON, JSON lines, XML, Parquet, Excel or text."""

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
        stated = {name: value for name, value in vars(self).items() if value is not None}
        return {**stated, "header": self.header}
