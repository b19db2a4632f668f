"""Published files read by `csv`, `json` and `zipfile` alone, to compare our readers with."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]
csv.field_size_limit(1 << 30)


class Files:
    """The members of a published zip, those of zips inside it included."""

    def __init__(self, path: Path) -> None:
        self.data: dict[str, bytes] = {}
        self._unpack(zipfile.ZipFile(path), "")

    def _unpack(self, archive: zipfile.ZipFile, place: str) -> None:
        for name in archive.namelist():
            if name.endswith("/") or "MACOSX" in name or name.rsplit("/", 1)[-1].startswith("."):
                continue
            if name.endswith(".zip"):
                self._unpack(zipfile.ZipFile(io.BytesIO(archive.read(name))), f"{place}{name}/")
            else:
                self.data[place + name] = archive.read(name)

    def names(self, pattern: str) -> list[str]:
        return [name for name in self.data if re.search(pattern, name)]

    def text(self, name: str) -> str:
        data = self.data[self.names(name)[0]]
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("cp1252", "replace")

    def table(
        self,
        name: str,
        columns: Row | None = None,
        mark: str = ",",
        quoted: bool = True,
        head: str = "",
    ) -> list[Row]:
        """Rows under our names; `head` names the columns of a file without a header."""
        quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        lines: Any = (
            io.StringIO(self.text(name), newline="")
            if quoted
            else re.split(r"\r\n|\n|\r", self.text(name))
        )
        rows = [row for row in csv.reader(lines, delimiter=mark, quoting=quoting) if row]
        names = head.split() if head else rows.pop(0)
        return [picked(dict(zip(names, row, strict=False)), columns) for row in rows]

    def objects(self, name: str, columns: Row | None = None) -> list[Row]:
        text = self.text(name)
        rows = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(x) for x in text.split("\n") if x.strip()]
        )
        return [picked(row, columns) for row in rows]


def picked(row: Row, columns: Row | None) -> Row:
    """`columns`: ours -> theirs, or a function of the row."""
    if columns is None:
        return row
    return {
        ours: theirs(row) if callable(theirs) else row.get(theirs)
        for ours, theirs in columns.items()
    }


@dataclass(frozen=True)
class Case:
    rows: Callable[[Files], list[Row]]
    file: str | None = None  # the zip, where it is not called like the card
    unread: Row = field(
        default_factory=dict
    )  # values that nobody can read, by column: they are in `meta`
    ordered: bool = True


def numbers(rows: list[Row], key: str) -> list[Row]:
    """Rows in the order of the number in `key`."""
    return sorted(rows, key=lambda row: [int(n) for n in re.findall(r"\d+", row[key])])


def whole(value: Any) -> str | None:
    return None if value is None else str(value).removesuffix(".0")


def named(
    label: Callable[[str], str], columns: Row, pattern: str, **options: Any
) -> Callable[[Files], list[Row]]:
    """Tables whose name holds the label."""

    def rows(files: Files) -> list[Row]:
        return [
            row | {"label_raw": label(name)} for name in sorted(files.names(pattern), key=natural)
            for row in files.table(re.escape(name), columns, **options)
        ]  # fmt: skip

    return rows


def natural(name: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(t), "") if t.isdigit() else (1, 0, t) for t in re.split(r"(\d+)", name.lower()) if t
    ]


def several(*patterns: str, **options: Any) -> Callable[[Files], list[Row]]:
    return lambda files: [row for pattern in patterns for row in files.table(pattern, **options)]


def each_json(pattern: str, columns: Row) -> Callable[[Files], list[Row]]:
    return lambda files: [
        picked(json.loads(files.data[n]) | {"number": n}, columns)
        for n in sorted(files.names(pattern), key=natural)
    ]


def clean(value: Any) -> str | None:
    text = " ".join(str(value).split()) if value is not None else ""
    return text or None
