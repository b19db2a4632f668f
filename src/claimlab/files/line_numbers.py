"""On which line of a table in text each record is: for a message that points at the file.

A row may be on several lines, where a quoted text holds a line break: the first counts. A file that
cannot be read in this way has no lines, and the ids alone are named.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from claimlab.core.types import JsonObject

MAX_FIELD_BYTES = 1 << 24
_QUOTED = {"double": '"', "single": "'"}


def lines_of(file: Path, layout: JsonObject, id_column: str | None, name: str) -> dict[str, int]:
    """Id -> line number, counted from 1. `layout` is how the file was read; without an id column,
    records are numbered behind `name` as an import does.
    """
    try:
        rows = list(_rows(file, layout))
    except (OSError, ValueError, csv.Error):
        return {}
    width = max(6, len(str(len(rows))))
    out = {}
    for number, (line, row) in enumerate(rows, 1):
        own = None if id_column is None else row.get(id_column)
        numbered = f"{name}-{number:0{width}d}"
        out[str(own).strip() if own is not None else numbered] = line
    return out


def _rows(file: Path, layout: JsonObject) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The first line and the cells of each row."""
    encoding = str(layout.get("encoding") or "utf-8")
    with file.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as handle:
        if file.suffix in (".jsonl", ".ndjson"):
            for line, text in enumerate(handle, 1):
                if text.strip():
                    yield line, json.loads(text)
            return
        csv.field_size_limit(MAX_FIELD_BYTES)
        quote = _QUOTED.get(str(layout.get("quotes")))
        reader = csv.reader(
            handle,
            delimiter=str(layout.get("delimiter") or ","),
            quotechar=quote,
            quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
        )
        head: list[str] | None = None
        begin = 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if head is None and layout.get("header", True):
                    head = [cell.strip() for cell in cells]
                else:
                    names = head or [str(n) for n in range(len(cells))]
                    yield begin, dict(zip(names, cells, strict=False))
            begin = reader.line_num + 1
