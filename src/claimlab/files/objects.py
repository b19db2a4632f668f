"""Tables from JSON: a list of objects, an object around one, or one object per line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from claimlab.core.errors import UnreadableFile
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files.layout import FileLayout
from claimlab.files.raw import RawTable, Refused, typed_table
from claimlab.files.shapes import KeyTwice, rows_of

BAD_JSON = "not valid JSON"
NOT_OBJECT = "not a JSON object"
KEY_TWICE = "a key that occurs twice in one object"
_DEEP = "nested too deeply"
_TODO_JSON = (
    "Give a list of objects, one object per line, or an object that holds one list of them."
)


class NotATable(UnreadableFile):
    """A whole JSON file that holds something else than records, such as settings."""


def read_json_file(text: str, name: str, encoding: str) -> RawTable:
    """A JSON file (a list of objects, or an object around one) or JSON lines, distinguished by
    content.
    """
    lines = name.lower().endswith((".jsonl", ".ndjson")) and not text.lstrip().startswith("[")
    reader = _Reader(name)
    if lines or _is_lines(text):
        rows, form = reader.lines(text), "JSON lines"
    else:
        reader.refused.unit = "record"
        rows, form = reader.whole(text), "JSON"
    table = typed_table(list(rows), name, FileLayout(form, encoding), reader.refused)
    if reader.inner_twice:
        table.notes.append(
            f"{several(reader.inner_twice, 'object')} in records of '{name}' with a key twice: the"
            " last value counts."
        )
    return table


@dataclass
class _Reader:
    """Objects as records; what cannot be one is refused with its number."""

    name: str
    refused: Refused = field(default_factory=Refused)
    inner_twice: int = 0

    def __post_init__(self) -> None:
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object)

    def lines(self, text: str) -> Iterator[JsonObject]:
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                yield from self._record(number, self._decoder.decode(line))
            except RecursionError:
                self.refused.add(number, BAD_JSON, _DEEP)
            except ValueError as error:
                words = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                self.refused.add(number, BAD_JSON, f"{BAD_JSON}: {words}")

    def whole(self, text: str) -> Iterator[JsonObject]:
        try:
            value = self._decoder.decode(text)
        except RecursionError:
            raise UnreadableFile(f"'{self.name}' is {_DEEP} to be a table.", _TODO_JSON) from None
        except ValueError as error:
            where = (
                f"line {error.lineno}: {error.msg}"
                if isinstance(error, json.JSONDecodeError)
                else str(error)
            )
            raise UnreadableFile(
                f"'{self.name}' is not JSON ({where}).", "Fix it or get it again."
            ) from None
        if isinstance(value, KeyTwice):
            raise UnreadableFile(
                f"'{self.name}' holds the key '{value.key[:60]}' twice.",
                "Rename one of the two, or remove it.",
            )
        rows = rows_of(value)
        if rows is None:
            raise NotATable(f"'{self.name}' is JSON, but holds no list of records.", _TODO_JSON)
        for number, row in enumerate(rows, 1):
            yield from self._record(number, row)

    def _object(self, pairs: list[tuple[str, Any]]) -> JsonObject:
        fields = dict(pairs)
        if len(fields) == len(pairs):
            return fields
        twice = KeyTwice(fields)
        twice.key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        self.inner_twice += 1
        return twice

    def _record(self, number: int, row: Any) -> Iterator[JsonObject]:
        if isinstance(row, KeyTwice):
            self.inner_twice -= 1
            self.refused.add(number, KEY_TWICE, f"the key '{row.key[:60]}' occurs twice")
        elif isinstance(row, dict):
            yield row
        else:
            start = json.dumps(row, ensure_ascii=False)[:40]
            self.refused.add(number, NOT_OBJECT, f"{NOT_OBJECT}: {start}")


def _is_lines(text: str) -> bool:
    """Whether each line is a value of its own: the first line is a whole object and another line
    follows.
    """
    first, _, rest = text.lstrip().partition("\n")
    if not first.lstrip().startswith("{"):
        return False
    try:
        json.loads(first)
    except RecursionError:
        return bool(rest.strip())
    except ValueError:
        second = rest.lstrip()[:1]
        return first.rstrip().endswith("}") and second == "{"  # a broken first line of many
    return bool(rest.strip())
