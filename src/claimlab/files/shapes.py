"""The records in a JSON value, in the shapes in which people write tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from claimlab.core import packaged
from claimlab.core.types import JsonObject

Fields: TypeAlias = Mapping[str, Any]  # an object of a JSON file
Rows: TypeAlias = Sequence[Any]  # what may be records
MANY_KEYS = 200  # of an object, that may be ids
MANY_NUMBERED = 20  # the same, of keys that differ in a number only: source_1, source_2
_DIGITS = re.compile(r"\d+")
TIMES_LONGER = 10  # times as many records as another list of an object has
LEAST_RECORDS = 5  # records of a list inside an object that is one record by itself
MOST_PARTS = 12  # parts that an object of ids has
LIST_DEPTH = 3  # of the objects around such a list
PROSE_CHARACTERS = 40  # characters of a value that says more than a setting
ID_DIGITS = 6  # digits of a number that names a record, no column


class KeyTwice(JsonObject):
    """An object that was written with the same key twice, of which Python keeps the last."""

    key: str = ""


def rows_of(value: Any) -> Rows | None:
    """The records in a JSON value, in the shapes that people write tables in."""
    if isinstance(value, list):
        return _with_header(value) or _bare(value) or value or None
    if not isinstance(value, dict) or not value:
        return None
    shapes = (shape(value) for shape in _SHAPES)
    return next((rows for rows in shapes if rows is not None), [value])


def _bare(values: Rows) -> Rows | None:
    """["...", "..."]"""
    if any(not isinstance(value, str | int) or isinstance(value, bool) for value in values):
        return None
    return [{"value": value} for value in values]


def _with_header(rows: Rows) -> Rows | None:
    """[["text", "label"], ["...", "true"], ...]"""
    if len(rows) <= LEAST_RECORDS or not all(isinstance(row, list) for row in rows):
        return None
    names, *body = rows
    if not all(isinstance(name, str) and name for name in names):
        return None
    if {*map(len, body), len(set(names))} != {len(names)}:
        return None
    again = any(name == row[n] for n, name in enumerate(names) for row in body)
    return None if again else [dict(zip(names, row, strict=True)) for row in body]


def _wrapped(value: Fields) -> Rows | None:
    """{"version": 1, "data": [{...}, ...]}; but {"title": "A long text ...", "tweets": [...]} is
    one record.
    """
    sizes = {k: len(v) for k, v in value.items() if _is_table(v)}
    longest = max(sizes.values(), default=0)
    lists = [
        k for k, size in sizes.items() if size * TIMES_LONGER > longest
    ]  # beside a list of licences
    if len(lists) != 1:
        return None
    key = lists[0].lower()
    prose = any(map(_is_prose, value.values()))
    about = all(_is_about(k) or k in sizes for k in value)
    keys = _keys()
    if key in keys["table"] or about or (key in keys["part"] and not prose):
        return value[lists[0]]  # type: ignore[no-any-return]
    return None


def _inside(value: Fields) -> Rows | None:
    """{"version": 1, "data": {"train": [{...}], "test": [{...}]}}: one object around a table."""
    inner = [v for k, v in value.items() if not _is_about(k)]
    if len(inner) != 1 or not isinstance(inner[0], dict):
        return None
    return _wrapped(inner[0]) or _parts(inner[0])


def _is_about(key: str) -> bool:
    return key.startswith("@") or key.lower() in _keys()["about"]


def _keys() -> dict[str, list[str]]:
    return packaged.toml("claimlab.files", "json_keys.toml")


def _parts(value: Fields) -> Rows | None:
    """{"train": [{...}], "test": [{...}]} or {"fake": [...], "real": [...]}: several lists of like
    records.
    """
    if len(value) < 2 or not all(_is_table(v) for v in value.values()):
        return None
    keys = [set(v[0]) for v in value.values()]
    if not set.intersection(*keys):
        return None
    return [
        _keyed(k, row, "part") if isinstance(row, dict) else row
        for k, rows in value.items()
        for row in rows
    ]


def _split(value: Fields) -> Rows | None:
    """{"columns": ["text", "label"], "data": [["...", "true"], ...]}, as pandas writes it"""
    names, rows = value.get("columns"), value.get("data")
    if (
        not isinstance(names, list)
        or not isinstance(rows, list)
        or not set(value) <= {"columns", "data", "index"}
    ):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]


def _by_column(value: Fields) -> Rows | None:
    """{"text": [...], "label": [...]}"""
    inner = list(value.values())
    if not all(isinstance(v, list) for v in inner) or len({len(v) for v in inner}) != 1:
        return None
    return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]


def _lists_by_id(value: Fields) -> Rows | None:
    """{"id1": [["...", "..."], [1, 0], "of both"], "id2": ...}: the cells of a row for each id,
    or of as many rows as the lists in it are long.
    """
    cells = list(value.values())
    if len(cells) < LEAST_RECORDS or not all(isinstance(row, list) for row in cells):
        return None
    kinds = {tuple(map(type, row)) for row in cells}
    if len(kinds) != 1 or len(set(*kinds)) == 1:
        return None
    return [
        {"key": key, **{f"column_{n}": cell for n, cell in enumerate(cells_of_row, 1)}}
        for key, row in value.items()
        for cells_of_row in _side_by_side(row)
    ]


def _side_by_side(row: Rows) -> Rows:
    """The rows of several lists of one length, each with the cells that are none; or the row."""
    lengths = [len(cell) for cell in row if isinstance(cell, list)]
    if len(lengths) < 2 or len(set(lengths)) > 1:
        return [row]
    return [[c[n] if isinstance(c, list) else c for c in row] for n in range(lengths[0])]


def _by_number(value: Fields) -> Rows | None:
    """{"text": {"0": ...}, "label": {"0": ...}}"""
    first, *others = value.values()
    if not others or not all(isinstance(column, dict) and column for column in (first, *others)):
        return None
    if any(
        list(first) != list(map(str, range(len(first)))) or column.keys() != first.keys()
        for column in others
    ):
        return None
    return [{name: value[name][number] for name in value} for number in first]


def _by_key(value: Fields) -> Rows | None:
    """{"id1": {...}, "id2": {...}}"""
    inner = list(value.values())
    if not all(isinstance(v, dict) for v in inner):
        return None
    if 1 < len(inner) < LEAST_RECORDS and not set.intersection(*map(set, inner)):
        return None  # {"header": {...}, "response": {...}}
    return [v if isinstance(v, KeyTwice) else _keyed(k, v) for k, v in value.items()]


def _by_id(value: Fields) -> Rows | None:
    """{"id1": 7, "id2": 9, ...}: so many keys with values of one kind are no fields of a record."""
    kinds = {type(entry) for entry in value.values()} - {type(None)}
    numbered = len({_DIGITS.sub("#", key) for key in value}) == 1
    if len(value) < (MANY_NUMBERED if numbered else MANY_KEYS) or len(kinds) != 1:
        return None
    return [{"key": key, "value": entry} for key, entry in value.items()]


def _ids_of_parts(value: Fields) -> Rows | None:
    """{"stance": {"id1": "deny", ...}, "veracity": {"id1": "false", ...}}, columns of a record; or
    {"train": {"id1": ...}, "test": {"id2": ...}}, a row of each id.
    """
    if not 2 <= len(value) <= MOST_PARTS or not all(map(_are_ids, value.values())):
        return None
    keys = dict.fromkeys(key for part in value.values() for key in part)
    if len(keys) == sum(map(len, value.values())):
        return [{"part": name, **row} for name, part in value.items() for row in _by_id(part) or ()]
    return [
        {"key": key, **{name: part[key] for name, part in value.items() if key in part}}
        for key in keys
    ]


def _are_ids(part: Any) -> bool:
    """Whether an object has a word or a number for each of many ids."""
    by_id = isinstance(part, dict) and _by_id(part) is not None
    return by_id and not any(isinstance(entry, dict) for entry in part.values())


def records_inside(value: Fields) -> Rows | None:
    """The one long list of objects in an object that says nothing else at length: what is called
    {"verze": "1.2", "vyroky": [...]}.
    """
    lists = list(_lists(value, LIST_DEPTH))
    return lists[0] if len(lists) == 1 and lists[0] is not None else None


def _lists(value: Fields, depth: int) -> Iterator[Rows | None]:
    """The lists of objects in an object, and null for each value that is prose."""
    for key, inner in value.items():
        if _is_table(inner) and len(inner) >= LEAST_RECORDS:
            yield inner
        elif isinstance(inner, dict) and depth:
            yield from _lists(inner, depth - 1)
        elif _is_prose(inner) and not _is_about(key):
            yield None


def _is_prose(value: object) -> bool:
    return isinstance(value, str) and len(value) > PROSE_CHARACTERS


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _keyed(key: str, row: Fields, name: str = "key") -> JsonObject:
    """A record with the key that it had; a column of its own with that name stays. Keys that are
    ids are no names of columns: such an object is one value.
    """
    if row and all(name.isdecimal() and len(name) >= ID_DIGITS for name in row):
        return {name: key, "value": row}
    while name in row:
        name += "_"
    return {name: key, **row}


_SHAPES: tuple[Callable[[Fields], Rows | None], ...] = (
    _wrapped,
    _inside,
    _parts,
    _split,
    _lists_by_id,
    _by_column,
    _ids_of_parts,
    _by_number,
    _by_key,
    _by_id,
)
