"""What a reader found in one file: a table of text, how the file was laid out, and which rows it
refused and why. Cells that have types, such as those of JSON and Excel, stay text where they are
text. A column in which any value is not text is kept as JSON values (`literal`), so that 5, true
and ["a", "b"] are still that when they travel on; `literal_text` reads them as plain text.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from claimlab.core.bounds import refuse_wide
from claimlab.core.errors import UnreadableFile
from claimlab.core.plain import whole
from claimlab.core.words import several
from claimlab.files.layout import FileLayout

SPARSE_CELLS = 2_000_000  # cells, filled or not, above which most of them must not be empty
CODES_NAMED = 40  # codes with their meaning, in a note
ROWS_LISTED = 1_000  # refused rows kept with their line number; all of them are counted


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
        if len(self.listed) < ROWS_LISTED:
            self.listed.append((line, particulars or reason))


@dataclass
class RawTable:
    """Every column is text; null where a cell is empty. Columns in `literal` hold JSON values (5,
    true, ["a"]).
    """

    name: str
    frame: pl.DataFrame
    layout: FileLayout
    literal: frozenset[str] = frozenset()
    refused: Refused = field(default_factory=Refused)
    blank: int = 0  # rows without a single character, left out
    notes: list[str] = field(default_factory=list)
    called: str = ""  # among several files, where that is not its name without the suffix
    beside: dict[str, list[dict[str, str | None]]] = field(default_factory=dict)  # small sheets

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


def typed_table(
    rows: Sequence[Mapping[str, object]],
    name: str,
    layout: FileLayout,
    refused: Refused,
    names: Sequence[str] | None = None,
) -> RawTable:
    columns = list(dict.fromkeys(key for row in rows for key in row)) if names is None else names
    refuse_wide(len(columns), name)
    _refuse_sparse(rows, len(columns), name)
    data, literal, broken = [], set(), 0
    for column, label in zip(columns, unique_names(map(whole, columns)), strict=True):
        values = [_plain(row.get(column)) for row in rows]
        if any(not isinstance(value, str | None) for value in values):
            literal.add(label)
            values = [None if value is None else _json(value) for value in values]
        series, n = _series(label, values)
        broken += n
        data.append(series)
    table = RawTable(name, pl.DataFrame(data), layout, frozenset(literal), refused)
    if broken:
        table.notes.append(
            f"{several(broken, 'value')} of '{name}' with half a character (a lone surrogate), now"
            " \ufffd."
        )
    return table


def _refuse_sparse(rows: Sequence[Mapping[str, object]], width: int, name: str) -> None:
    if width * len(rows) <= SPARSE_CELLS:
        return
    filled = sum(map(len, rows))
    if filled and width * len(rows) > 50 * filled:
        raise UnreadableFile(
            f"'{name}' has {width:,} columns, of which a row fills {filled / len(rows):.0f}:"
            " it is not a table.",
            "Give records that have the same keys.",
        )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    """A value that JSON can hold: no NaN, dates as ISO 8601, 3.0 as 3, "" as null."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 1 << 53 else value
    if value is None or isinstance(value, str | int):
        return value if value != "" else None
    return value if isinstance(value, dict | list) else as_text(value)


def _series(label: str, values: Iterable[str | None]) -> tuple[pl.Series, int]:
    values = list(values)
    try:
        return pl.Series(label, values, dtype=pl.String), 0
    except UnicodeEncodeError:
        repaired = [None if v is None else whole(v) for v in values]
        return pl.Series(label, repaired, dtype=pl.String), sum(
            a != b for a, b in zip(values, repaired, strict=True)
        )


def literal_text(column: pl.Series) -> pl.Series:
    """A column of JSON values as plain text: "a" loses its quotes, everything else stays as it is
    written.
    """
    quoted = column.str.starts_with('"')
    if not quoted.any():
        return column
    plain = [json.loads(v) if v is not None and v.startswith('"') else v for v in column.to_list()]
    return pl.Series(column.name, plain, dtype=pl.String)


class LiteralTable(Protocol):
    frame: pl.DataFrame
    literal: frozenset[str]


def spell_out(table: LiteralTable, column: str, words: Mapping[str, str], where: str) -> str:
    """Put words in the place of codes, and say where they are from; a code without one is null."""
    spelled = literal_text(table.frame[column]).replace_strict(
        words, default=None, return_dtype=pl.String
    )
    table.frame = table.frame.with_columns(spelled)
    table.literal -= {column}
    meaning = [f"{code} is '{word}'" for code, word in sorted(words.items())]
    more = f" and {len(meaning) - CODES_NAMED:,} more" if len(meaning) > CODES_NAMED else ""
    return f"'{column}' is spelled out by {where}: {', '.join(meaning[:CODES_NAMED])}{more}."


def json_of(column: str) -> pl.Expr:
    """Any column as JSON values. Polars encodes structs only, so it is wrapped in one and unwrapped
    again.
    """
    whole = pl.struct(pl.col(column).alias("v")).struct.json_encode()
    return pl.when(pl.col(column).is_not_null()).then(
        whole.str.strip_prefix('{"v":').str.strip_suffix("}")
    )
