"""Made-up raw files, for the samples that test loaders: the same rows always give the same bytes."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"

Content = str | bytes | Callable[[], bytes]  # a workbook is only built when a test wants it


def write(folder: Path, files: Mapping[str, Content]) -> Path:
    """The files under `folder`, which is given back."""
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        made = content() if callable(content) else content
        target.write_bytes(made.encode("utf-8") if isinstance(made, str) else made)
    return folder


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Comma-separated text with a header: the columns of all rows, in order of first appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def parquet(rows: Sequence[Mapping[str, object]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).cast({pl.Null: pl.String}).write_parquet(buffer)
    return buffer.getvalue()


def xlsx(rows: Sequence[Sequence[object]]) -> bytes:
    """A workbook with one sheet, written by hand so that importing a loader does not import a spreadsheet library."""
    body = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/book.xml" ContentType="{_SHEET}.sheet.main+xml"/>'
        f'<Override PartName="/sheet.xml" ContentType="{_SHEET}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_REL}/officeDocument" Target="book.xml"/></Relationships>',
        "book.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_REL}"><sheets>'
        '<sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>',
        "_rels/book.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_REL}/worksheet" Target="sheet.xml"/></Relationships>',
        "sheet.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>',
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return buffer.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
