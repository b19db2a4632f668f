"""The files of bench/fuzz_import.py: good ones, damaged ones, odd ones and hostile ones, all made
from a seed.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import pickle
import random
import struct
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

ROWS = 40
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": ";"}


@dataclass(frozen=True)
class Case:
    """A file to import. `rows`: that many records, or a sentence; `refused`: it must be refused."""

    name: str
    data: bytes
    rows: int | None = None
    refused: bool = False
    peers: int | None = None  # rows that Polars and pandas agree on


def bad(name: str, data: bytes) -> Case:
    return Case(name, data, refused=True)


def table(n: int = ROWS) -> list[dict[str, str]]:
    claims = [f'The bridge in Riverton, number {i}, is "closed" for repairs' for i in range(n)]
    return [
        {"id": f"r{i}", "claim": c, "rating": ("true", "false", "mixture")[i % 3]}
        for i, c in enumerate(claims)
    ]


def csv_bytes(delimiter: str = ",", n: int = ROWS) -> bytes:
    return pl.DataFrame(table(n)).write_csv(separator=delimiter).encode()


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def zip_bytes(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def row_xml(number: int | str | None, cells: list[str]) -> str:
    plain = [
        cell.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") for cell in cells
    ]
    texts = "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in plain)
    place = "" if number is None else f' r="{number}"'
    return f"<row{place}>{texts}</row>"


def header_xml(number: int | None = 1) -> str:
    return row_xml(number, ["id", "claim", "rating"])


def claim_xml(number: int | str | None, i: int) -> str:
    return row_xml(
        number,
        [f"r{i}", f"The bridge in Riverton, number {i}, is closed", ("true", "false")[i % 2]],
    )


def parts_of_workbook(rows: str) -> dict[str, str]:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    relations = (
        f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{office}/%s"'
        ' Target="%s"/></Relationships>'
    )
    return {
        "[Content_Types].xml": (
            f'<Types xmlns="{package}/content-types"><Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override'
            f' PartName="/xl/workbook.xml" ContentType="{sheet}.sheet.main+xml"/><Override'
            f' PartName="/xl/worksheets/sheet1.xml" ContentType="{sheet}.worksheet+xml"/></Types>'
        ),
        "_rels/.rels": relations % ("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": (
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": relations % ("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": (
            f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
        ),
    }


def workbook(rows: str, **changes: str | None) -> bytes:
    """An Excel file with these rows; a part of it may be replaced, or left out."""
    parts = parts_of_workbook(rows) | changes
    return zip_bytes({name: text.encode() for name, text in parts.items() if text is not None})


def mutants(seed: int, each: int) -> Iterator[Case]:
    """Good files with bytes cut off, changed, doubled or put in."""
    rows = [list(dict.fromkeys(table()[0])), *(list(row.values()) for row in table())]
    good = {
        "csv": csv_bytes(),
        "tsv": csv_bytes("\t"),
        "json": json.dumps(table()).encode(),
        "jsonl": "\n".join(map(json.dumps, table())).encode(),
        "xlsx": workbook("".join(row_xml(i + 1, row) for i, row in enumerate(rows))),
        "parquet": parquet_bytes(pl.DataFrame(table())),
        "zip": zip_bytes({"d/a.csv": csv_bytes()}),
        "txt": csv_bytes(";"),
        "csv.gz": gzip.compress(csv_bytes(), mtime=0),
    }
    for suffix, data in good.items():
        yield Case(f"good.{suffix}", data, rows=ROWS)
        for i in range(each):
            yield Case(f"mutant{i}.{suffix}", _damaged(data, random.Random(f"{seed} {suffix} {i}")))


def _damaged(data: bytes, draw: random.Random) -> bytes:
    out = bytearray(data)
    odd = [
        b'"',
        b"\n",
        b"\r",
        b"\0",
        b",",
        b"\xff",
        b"{",
        b"]",
        b"\\",
        b"\xed\xa0\x80",
        b"\x1b[31m",
    ]
    for _ in range(draw.choice([1, 1, 2, 8, 64])):
        at = draw.randrange(len(out) or 1)
        match draw.randrange(6):
            case 0:
                out = out[:at]
            case 1:
                out[at : at + 1] = bytes([draw.randrange(256)])
            case 2:
                out[at:at] = draw.randbytes(draw.choice([1, 4, 100]))
            case 3:
                del out[at : at + draw.choice([1, 10, 500])]
            case 4:
                out[at:at] = draw.choice(odd)
            case _:
                out[at:at] = out[at // 2 : at]
        out = out or bytearray(b"a")
    return bytes(out[: 2 << 20])


def encodings() -> Iterator[Case]:
    text = csv_bytes().decode() + "é1,Ação não está à mão na câmara,true\n"
    names = (
        "utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 utf-32-le cp1252 latin-1 mac-roman cp437"
    )
    for name in names.split():
        for suffix in ("csv", "txt"):
            yield Case(f"{name}.{suffix}", text.encode(name, "replace"))
    marks = {
        "utf16le": b"\xff\xfe",
        "utf16be": b"\xfe\xff",
        "utf32le": b"\xff\xfe\0\0",
        "utf32be": b"\0\0\xfe\xff",
        "utf8": b"\xef\xbb\xbf",
    }
    for name, mark in marks.items():
        for suffix in ("txt", "csv", "json", "jsonl", "xls", "dat"):
            yield bad(f"mark-{name}.{suffix}", mark)
            yield bad(f"mark-{name}-blank.{suffix}", mark + mark + b"\n\0")
    for byte in (b"\0", b"a", b"\n", b"\xff", b"{", b"[", b'"', b",", b"\x80", b"P"):
        for suffix in (
            "csv",
            "xls",
            "txt",
            "json",
            "jsonl",
            "parquet",
            "xlsx",
            "zip",
            "tsv",
            "dat",
        ):
            yield bad(f"byte-{byte.hex()}.{suffix}", byte)


def delimited() -> Iterator[Case]:
    head, body = (
        b"id,claim,rating\n",
        b"".join(b"r%d,The bridge number %d is closed,true\n" % (i, i) for i in range(ROWS)),
    )
    yield Case("ragged.csv", head + body + b"x\n" * 5)
    yield Case("open-quote.csv", head + b'"' + body * 500)
    yield bad("nul.csv", head + body + b"a\0b,c,true\n")
    yield Case("returns.csv", (head + body).replace(b"\n", b"\r"), rows=ROWS)
    yield Case("quotes-only.csv", b'"' * 10_001)
    yield bad("commas.csv", b"," * 1_000_000)
    yield bad("tabs.tsv", b"\t" * 1_000_000)
    yield bad("comma-lines.csv", b",\n" * 500_000)
    yield Case("one-line.csv", b"id,claim,rating " * 100_000)
    yield Case("escapes.csv", head + body.replace(b"bridge", b"\x1b]0;title\x07\x1b[2J"), rows=ROWS)
    for columns in (1_000, 2_000, 5_000, 20_000):
        names = ",".join(f"column name {i}" for i in range(columns))
        cells = ",".join(f"some cell {i} of it" for i in range(columns))
        yield Case(f"wide-{columns}.csv", f"{names}\n{cells}\n{cells}\n{cells}\n".encode())
    same = ",".join(["text"] * 3_000)
    yield Case("same-names.csv", f"{same}\n{same}\n".encode())


def json_files() -> Iterator[Case]:
    lone = b'{"\\ud800": "a", "text": "The bridge is closed now", "label": "true"}'
    yield bad("twice.json", b'[{"text":"a b c d","text":"second one here","label":"true"}]')
    yield Case(
        "twice.jsonl",
        b'{"text":"a b c d e f","label":"true"}\n' * 3 + b'{"text":"a","text":"b c d e"}\n',
    )
    yield Case("surrogate-key.json", b"[" + lone + b"]", rows=1)
    yield Case("surrogate-key.jsonl", (lone + b"\n") * 2, rows=2)
    yield Case(
        "surrogate.json", b'[{"text": "The bridge \\ud800 is closed now", "label": "true"}]', rows=1
    )
    yield bad("deep-list.json", b"[" * 100_000)
    yield bad("deep.json", b'{"a":' * 100_000 + b"1" + b"}" * 100_000)
    yield bad("deep.jsonl", (b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n") * 2)
    yield Case("digits.json", b'[{"text": "The bridge is closed now", "n": ' + b"9" * 5_000 + b"}]")
    yield Case(
        "nan.json",
        b'[{"text": "The bridge is closed", "n": NaN, "m": 1e999, "label": "true"}]',
        rows=1,
    )
    for word in [
        "null",
        "1",
        '"a"',
        "[]",
        "{}",
        "[null]",
        "[[1,2],[3,4]]",
        '{"a":{}}',
        "[{}]",
        "[true]",
        '{"a":[]}',
    ]:
        yield bad(f"value-{word.encode().hex()[:20]}.json", word.encode())
    yield bad("objects.jsonl", b"{}\n" * 300_000)
    yield Case(
        "keys.json", json.dumps([{f"key {i}": "a value of it" for i in range(20_000)}]).encode()
    )
    other = [json.dumps({f"key {i}": "some words of a value"}) for i in range(5_000)]
    yield Case("other-keys.jsonl", "\n".join(other).encode())
    columns = {"text": ["The bridge is closed"] * 9, "label": ["true"] * 9}
    yield Case("columns.json", json.dumps(columns).encode(), rows=9)
    yield Case("parts.json", json.dumps({"train": table(9), "test": table(6)}).encode(), rows=15)


def workbooks() -> Iterator[Case]:
    head, numbers = header_xml(), range(2, 22)
    apart = "".join(
        f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="XFD{n}"><v>2</v></c></row>'
        for n in range(2, 5_002)
    )
    yield Case(
        "reversed.xlsx",
        workbook(head + "".join(claim_xml(n, n) for n in reversed(numbers))),
        rows=20,
    )
    yield Case(
        "repeated.xlsx", workbook(head + "".join(claim_xml(2 + n % 2, n) for n in numbers)), rows=20
    )
    yield Case(
        "unnumbered.xlsx",
        workbook(header_xml(None) + "".join(claim_xml(None, n) for n in numbers)),
        rows=20,
    )
    yield bad("far.xlsx", workbook(head + claim_xml(1_048_576_000, 1)))
    yield Case("last-row.xlsx", workbook(head + claim_xml(1_048_576, 1)), rows=1)
    yield Case("zero-row.xlsx", workbook(head + claim_xml(0, 1)))
    yield bad("word-row.xlsx", workbook(head + claim_xml("many", 1)))
    yield bad("far-column.xlsx", workbook(head + '<row r="2"><c r="ZZZZ2"><v>1</v></c></row>'))
    yield bad("apart.xlsx", workbook(head + apart))
    yield bad("bad-shared.xlsx", workbook(head + '<row r="2"><c t="s"><v>99</v></c></row>'))
    yield bad(
        "one-cell-twice.xlsx",
        workbook(head + '<row r="2"><c r="A2"><v>1</v></c><c r="A2"><v>2</v></c></row>'),
    )
    yield bad("no-rows.xlsx", workbook(""))
    yield bad("three-lines.xlsx", workbook("<row"))
    entities = "".join(
        f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(9)
    )
    rows = head + claim_xml(2, 1)
    for name, text in parts_of_workbook(rows).items():
        stem = Path(name).stem.strip("[].")
        laughs = f'<!DOCTYPE x [<!ENTITY a "ha">{entities}]>{text}'
        yield Case(f"laughs-{stem}.xlsx", workbook(rows, **{name: laughs}))
        yield Case(f"without-{stem}.xlsx", workbook(rows, **{name: None}))
    for version in (0, 46, 63, 99, 255):
        yield Case(f"version-{version}.xlsx", _with_version(workbook(rows), version))
        yield Case(
            f"version-{version}.zip", _with_version(zip_bytes({"a.csv": csv_bytes()}), version)
        )


def _with_version(data: bytes, version: int) -> bytes:
    out = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 4), (b"PK\x01\x02", 6)):
        at = out.find(mark)
        while at >= 0:
            struct.pack_into("<H", out, at + offset, version)
            at = out.find(mark, at + 4)
    return bytes(out)


def archives() -> Iterator[Case]:
    packed = zip_bytes({"a.csv": csv_bytes()})
    for name in ("../a.csv", "/a.csv", "C:\\a.csv", "a/../../b.csv", "..\\a.csv"):
        yield bad(f"slip-{name.encode().hex()}.zip", zip_bytes({name: csv_bytes()}))
    yield bad("backslash.zip", zip_bytes({"d/a.csv": csv_bytes(), "d\\a.csv": csv_bytes()}))
    yield Case("escape.zip", zip_bytes({"a\x1b[2J.csv": csv_bytes(), "b.csv": b"x,y\n1,2\n"}))
    link = zipfile.ZipInfo("a.csv")
    link.external_attr = 0o120777 << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    yield bad("link.zip", buffer.getvalue())
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield bad(f"method-{method}.zip", zip_bytes({"a.csv": csv_bytes()}, method))
    locked = bytearray(packed)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + offset] |= 1
    yield bad("locked.zip", bytes(locked))
    yield Case("nested.zip", zip_bytes({"in.zip": packed}), rows=ROWS)
    yield bad("nested-twice.zip", zip_bytes({"in.zip": zip_bytes({"in.zip": packed})}))
    yield bad("empty.zip", zip_bytes({}))
    for what, (suffix, line) in {
        "rows": ("csv", b"a,b\n"),
        "objects": ("jsonl", b"{}\n"),
        "commas": ("csv", b","),
    }.items():
        bomb = zip_bytes({f"a.{suffix}": line * (60_000_000 // len(line))})
        yield bad(f"bomb-{what}.zip", bomb)
        yield bad(f"bomb-inside-{what}.zip", zip_bytes({"in.zip": bomb}))
    yield bad("bomb-six.zip", zip_bytes({f"{i}.csv": b"a,b\n" * 15_000_000 for i in range(6)}))
    yield Case("under-the-limit.zip", zip_bytes({"a.csv": b"a,b\n" * 1_000_000}))
    yield bad("under-the-limit-objects.zip", zip_bytes({"a.jsonl": b"{}\n" * 1_300_000}))


def packed() -> Iterator[Case]:
    """Files packed with gzip or bzip2, whole, cut, twice, and out of proportion."""
    whole, second = gzip.compress(csv_bytes()), bz2.compress(csv_bytes())
    yield Case("a.csv.gz", whole, rows=ROWS)
    yield Case("a.csv.bz2", second, rows=ROWS)
    yield bad("cut.csv.gz", whole[: len(whole) // 2])
    yield bad("cut.csv.bz2", second[: len(second) // 2])
    yield bad("checksum.csv.gz", whole[:-8] + bytes(8))
    yield Case(
        "two-members.csv.gz",
        gzip.compress(csv_bytes()[:500]) + gzip.compress(csv_bytes()[500:]),
        rows=ROWS,
    )
    yield bad("twice.csv.gz", gzip.compress(whole))
    yield bad("zip.csv.gz", gzip.compress(zip_bytes({"a.csv": csv_bytes()})))
    yield bad("bomb.csv.gz", gzip.compress(b"a,b\n" * 100_000_000))
    yield bad("bomb.csv.bz2", bz2.compress(b"a,b\n" * 5_000_000))
    yield bad("bomb-gz.zip", zip_bytes({"a.csv.gz": gzip.compress(b"a,b\n" * 50_000_000)}))
    yield bad("empty.csv.gz", gzip.compress(b""))
    yield bad("tar.tar.gz", gzip.compress(bytes(1024)))


def parquets() -> Iterator[Case]:
    good = parquet_bytes(pl.DataFrame(table()))
    for i in range(0, min(len(good), 400), 5):
        changed = good[: len(good) - 8 - i] + bytes([255 - i % 256]) + good[len(good) - 7 - i :]
        yield Case(f"footer-{i}.parquet", changed)
    nested = {
        "text": ["The bridge is closed now"] * 3,
        "n": [[1, 2], None, []],
        "s": [{"a": 1}, None, {"a": 2}],
    }
    yield Case("nested.parquet", parquet_bytes(pl.DataFrame(nested)), rows=3)
    yield bad("same.parquet", parquet_bytes(pl.select(text=pl.repeat("a", 2_000_000))))


class Evil:
    """A pickle that would stop the process when it is opened."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os._exit, (77,))


def pickles() -> Iterator[Case]:
    for protocol in range(6):
        data = pickle.dumps([Evil(), {"text": ["a"] * 50}], protocol)
        for suffix in (
            "pkl",
            "csv",
            "json",
            "jsonl",
            "txt",
            "tsv",
            "parquet",
            "xlsx",
            "zip",
            "dat",
            "xls",
        ):
            yield bad(f"pickle-{protocol}.{suffix}", data)


def rows_of_peers(name: str, file: Path) -> int | None:
    """The rows that Polars and pandas both read in a table; null where one cannot, or where they
    differ.
    """
    import pandas as pd

    suffix = Path(name).suffix
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if suffix in DELIMITERS:
                ours = pl.read_csv(file, separator=DELIMITERS[suffix], infer_schema=False)
                theirs = pd.read_csv(file, sep=DELIMITERS[suffix], dtype=str, keep_default_na=False)
            elif suffix == ".jsonl":
                ours, theirs = pl.read_ndjson(file), pd.read_json(file, lines=True, dtype=False)
            else:
                return None
        except (
            Exception,
            pl.exceptions.PanicException,
        ):  # it cannot count what it cannot read
            return None
    return ours.height if ours.height == len(theirs) else None


def write_cases(seed: int, each: int, only: str, folder: Path) -> list[Case]:
    """The files of all cases whose name contains `only`, numbered, in `folder`; and the cases
    without their bytes.
    """
    odd = (encodings, delimited, json_files, workbooks, archives, packed, parquets, pickles)
    every = (case for cases in (mutants(seed, each), *(make() for make in odd)) for case in cases)
    made = []
    for number, case in enumerate(case for case in every if only in case.name):
        file = folder / str(number)
        file.write_bytes(case.data)
        made.append(replace(case, data=b"", peers=rows_of_peers(case.name, file)))
    return made
