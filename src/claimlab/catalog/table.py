"""A foreign table: read from whatever kind of file it is in, its columns found whatever they are
called there.

Copies of a dataset circulate as CSV, Excel, JSON or Parquet, with other headers and encodings. What
is forgiven here is the form; a column that is there under none of its names is an error that names
the columns found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from claimlab.catalog.columns import blank_to_null
from claimlab.core.errors import UnreadableFile
from claimlab.core.record import meta_column
from claimlab.core.types import JsonObject
from claimlab.files.bundle import Bundle
from claimlab.files.delimited import quotes_in
from claimlab.files.tables import (
    frame_of,
    read_delimited,
    read_json_as,
    read_json_lines,
    read_parquet,
)

# Our names, each with the file's spellings of it, the best first; a plain list where ours is the
# file's.
Names = Mapping[str, str | Sequence[str]] | Sequence[str]

DELIMITERS = (",", "\t", ";", "|")
NUMBERED = re.compile(r'\s*\{\s*"0"\s*:\s*\{')
AS_PUBLISHED = "Give the file as its authors publish it."


@dataclass(frozen=True)
class Table:
    """`frame` as it was read, and the `name` of its file for messages.

    Columns come out as text, blank cells as null, and without whitespace at the ends of a cell: it
    says nothing, and in some datasets (ISOT, F3) it occurs in one class only.
    """

    name: str
    frame: pl.DataFrame
    quotes_are_text: bool = False  # where the file told so

    @classmethod
    def read(
        cls,
        bundle: Bundle,
        name: str,
        *,
        delimiter: str | None = None,
        quoted: bool | None = True,
        columns: Sequence[str] | None = None,
        western: bool = False,
    ) -> Table:
        """The table in member `name`: Parquet, Excel, JSON, JSON lines, or delimited by whatever
        its header shows.

        `columns` names the columns of a file without a header, or the only one of a JSON list of
        values. `quoted` says whether quotes go around cells or are text; null: the file tells, as
        in `import`. `western` says that what is not
        UTF-8 is latin-1 or its Windows cousin, so that nothing is guessed.
        """
        suffix = name.rsplit(".", 1)[-1].lower()
        if suffix == "parquet":
            return cls(name, read_parquet(bundle.read(name), name))
        if suffix in ("xlsx", "xls"):
            from claimlab.files.excel import read_excel  # few datasets are sheets

            return cls(name, read_excel(bundle.read(name), name))
        if suffix in ("json", "jsonl", "ndjson"):
            if columns is None:
                return cls(name, frame_of(read_objects(bundle, name)))
            values = read_json_as(bundle.text(name), name, list)
            return cls(name, frame_of(dict.fromkeys(columns, value) for value in values))
        text = western_text(bundle, name) if western else bundle.text(name)
        mark = delimiter or sniff_delimiter(text)
        around = quotes_in(text, mark) != "none" if quoted is None else quoted
        frame = read_delimited(text, delimiter=mark, quoted=around, columns=columns)
        return cls(name, frame, quotes_are_text=quoted is None and not around)

    @property
    def height(self) -> int:
        return self.frame.height

    def find(self, *spellings: str) -> str | None:
        """The file's own name for the first of `spellings` that it has; ignores case, whitespace
        and punctuation.
        """
        names = {_fold(c): c for c in reversed(self.frame.columns)} | {
            c: c for c in self.frame.columns
        }
        return next((names[key] for s in spellings for key in (s, _fold(s)) if key in names), None)

    def maybe(self, *spellings: str) -> pl.Series:
        """That column, or nulls where there is none."""
        column = self.find(*spellings)
        if column is None:
            return pl.Series([None], dtype=pl.String).new_from_index(0, self.height)
        return blank_to_null(self.frame[column])

    def need(self, *spellings: str) -> pl.Series:
        """That column, or a sentence where there is none."""
        if self.find(*spellings) is None:
            raise UnreadableFile(
                f"'{self.name}' has no column {' or '.join(map(repr, spellings))} "
                f"(it has: {', '.join(self.frame.columns[:20]) or 'none'}).",
                AS_PUBLISHED,
            )
        return self.maybe(*spellings)

    def pick(self, needed: Names, optional: Names = ()) -> pl.DataFrame:
        """The columns under our names; an optional one that is absent is null."""
        columns = {ours: self.need(*spellings) for ours, spellings in _spelt(needed).items()}
        return pl.DataFrame(
            columns | {ours: self.maybe(*spellings) for ours, spellings in _spelt(optional).items()}
        )

    def meta(self, names: Names) -> pl.Series:
        """The column `meta`, from those of these columns that are there."""
        return meta_column(self.pick((), names), list(names)) if names else self.maybe()


def first_matched(bundle: Bundle, patterns: Sequence[str]) -> list[str]:
    """The members that match the first pattern that any matches."""
    return next(filter(None, map(bundle.match, patterns)), [])


def present(bundle: Bundle, files: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The file of each part that is there; a sentence where none is."""
    matched = {part: first_matched(bundle, patterns) for part, patterns in files.items()}
    here = {part: names[0] for part, names in matched.items() if names}
    first = next(iter(files))
    return here or {first: bundle.one(*files[first])}


def members(bundle: Bundle, *patterns: str) -> list[str]:
    """All members that match; a sentence when none does."""
    return bundle.match(*patterns) or [bundle.one(*patterns)]


def read_objects(bundle: Bundle, name: str, required: Sequence[str] = ()) -> list[JsonObject]:
    """The objects of a JSON array, of JSON lines or of one object that numbers them: the same
    dataset circulates as all.
    """
    text = bundle.text(name)
    if text.lstrip().startswith("["):
        rows = read_json_as(text, name, list)
    elif NUMBERED.match(text):
        rows = list(read_json_as(text, name, dict).values())
    else:
        rows = read_json_lines(text, name)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise UnreadableFile(f"'{name}' holds something other than objects.", AS_PUBLISHED)
        missing = [key for key in required if key not in row]
        if missing:
            raise UnreadableFile(
                f"Object {number} of '{name}' has no {' or '.join(map(repr, missing))}.",
                AS_PUBLISHED,
            )
    return rows


def western_text(bundle: Bundle, name: str) -> str:
    """UTF-8, or else cp1252, or else latin-1: a detector shown a few accents in English text may
    well guess Korean.
    """
    data = bundle.read(name)
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def sniff_delimiter(text: str) -> str:
    """The delimiter that the first line holds most of, outside quotes; a comma when it holds
    none.
    """
    line = next((ln for ln in text[: 1 << 16].splitlines() if ln.strip()), "")
    bare = re.sub(r'"[^"]*"', "", line)
    return max(DELIMITERS, key=bare.count)


def _spelt(names: Names) -> dict[str, Sequence[str]]:
    pairs = names.items() if isinstance(names, Mapping) else ((n, n) for n in names)
    return {ours: (spelt,) if isinstance(spelt, str) else spelt for ours, spelt in pairs}


def _fold(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())
