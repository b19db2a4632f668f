"""What a file is by its content, whatever its name says. A pickle, an image or binary junk is
refused in a sentence.
"""

from __future__ import annotations

import pickletools
import re
from pathlib import PurePosixPath
from typing import Literal

from claimlab.core.errors import UnreadableFile
from claimlab.files.encoding import is_blank, looks_binary

Kind = Literal["delimited", "json", "xml", "parquet", "arrow", "excel", "text"]

DELIMITED_SUFFIXES = (".csv", ".tsv", ".tab", ".psv")  # tables, however they look
TABLE_SUFFIXES = (
    *DELIMITED_SUFFIXES,
    ".json",
    ".jsonl",
    ".ndjson",
    ".xml",
    ".parquet",
    ".pq",
    ".arrow",
    ".xlsx",
    ".xlsm",
)
HEAD_BYTES = 1 << 16

_NAME_PAIR = re.compile(r"[A-Za-z_][\w.]* [A-Za-z_][\w.]*")
_UNPACK = "Unpack it first, then give the file."
_CONVERT = "Save it as CSV or XLSX, then give that."
_NOT_DATA = "Give a CSV, TSV, JSON, JSONL, XML, Parquet or XLSX file."
_EXPORT = "Export the table as CSV or Parquet, then give that."
_STATISTICS = {".dta": "Stata", ".sav": "SPSS", ".rds": "R", ".rdata": "R", ".sas7bdat": "SAS"}
_PICKLE = (
    "is a Python pickle, which can run any program when it is opened",
    "claimlab never opens pickles: export the table as CSV, JSONL or Parquet.",
)
_OLE = b"\xd0\xcf\x11\xe0"  # old Office files, and new ones that are encrypted
_ARROW = (b"ARROW1", b"\xff\xff\xff\xff")  # a file, a stream
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "is packed with gzip", _UNPACK),
    (b"BZh", "is packed with bzip2", _UNPACK),
    (b"\xfd7zXZ", "is packed with xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "is packed with zstd", _UNPACK),
    (b"7z\xbc\xaf", "is a 7z archive", _UNPACK),
    (b"Rar!", "is a RAR archive", _UNPACK),
    (_OLE, "is an old Office file (.xls or .doc)", _CONVERT),
    (b"SQLite format 3", "is an SQLite database", _CONVERT),
    (b"%PDF", "is a PDF", _NOT_DATA),
    (b"\x89PNG", "is an image", _NOT_DATA),
    (b"\xff\xd8\xff", "is an image", _NOT_DATA),
    (b"GIF8", "is an image", _NOT_DATA),
    (b"\x89HDF", "is an HDF5 file", _CONVERT),
)


def kind_of(head: bytes, size: int, name: str) -> Kind:
    """The kind of the file whose first `HEAD_BYTES` bytes are `head`; a sentence when it is nothing
    that can be read.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if not size or is_blank(head):
        raise UnreadableFile(f"'{name}' is empty.", "Give a file that holds records.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(_ARROW):
        return "arrow"
    if head.startswith(b"PK\x03\x04"):
        return _zipped(suffix, name)
    _refuse_unlike(head, suffix, name)
    if is_pickle(head, size):
        raise UnreadableFile(f"'{name}' {_PICKLE[0]}.", _PICKLE[1])
    for magic, what, todo in _MAGIC:
        if head.startswith(magic):
            raise UnreadableFile(f"'{name}' {what}.", todo)
    if suffix in _STATISTICS:
        raise UnreadableFile(f"'{name}' is a file of {_STATISTICS[suffix]}.", _EXPORT)
    if looks_binary(head):
        raise UnreadableFile(f"'{name}' is binary, not text{_first_nul(head)}.", _NOT_DATA)
    return _text_kind(head, suffix, name)


def _refuse_unlike(head: bytes, suffix: str, name: str) -> None:
    """A file whose name promises what its content is not."""
    if suffix in (".xlsx", ".xlsm") and head.startswith(_OLE):
        raise UnreadableFile(
            f"'{name}' is encrypted, or an old Office file.", "Save it as .xlsx without a password."
        )
    if suffix in (".parquet", ".pq", ".xlsx", ".xlsm"):
        raise UnreadableFile(
            f"'{name}' is not {'Parquet' if suffix[1] == 'p' else 'an Excel workbook'}.",
            "Get it again.",
        )


def is_pickle(head: bytes, size: int) -> bool:
    """Whether bytes are a pickle, decided without opening it: by the mark of protocols 2 to 5, or,
    for the older text protocols, because the whole file is a well-formed list of pickle commands.
    """
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return True
    seen = set()
    commands, reached = 0, 0
    try:
        for command, argument, position in pickletools.genops(head):
            if command.name in ("GLOBAL", "INST") and not _NAME_PAIR.fullmatch(str(argument)):
                return False  # these take any two lines, so that rows of a table pass for them
            seen.add(command.name)
            commands, reached = commands + 1, position or 0
    except (
        Exception
    ):  # genops raises whatever the first wrong byte, or the cut at the end of `head`, leads to
        return size > len(head) and commands >= 10 and "PUT" in seen and reached > len(head) * 0.9
    return bool(seen & {"PUT", "BINPUT", "MARK"}) and reached >= len(head.rstrip()) - 1


def _zipped(suffix: str, name: str) -> Kind:
    if suffix in (".xlsx", ".xlsm", ".csv", ".tsv", ".xls", ""):
        return "excel"
    raise UnreadableFile(f"'{name}' is a zip inside a zip or folder.", _UNPACK)


def _first_nul(head: bytes) -> str:
    at = head.find(b"\0")
    line = head.count(b"\n", 0, max(at, 0)) + 1
    return f" (there is a NUL byte on line {line})" if at >= 0 else ""


def _text_kind(head: bytes, suffix: str, name: str) -> Kind:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith(b"<!doctype html") or b"<html" in start:
        raise UnreadableFile(
            f"'{name}' is a web page, not the file behind it.", "Download the file itself."
        )
    if start.startswith((b"<?xml", b"<!doctype")) or (suffix == ".xml" and start.startswith(b"<")):
        return "xml"
    if suffix in DELIMITED_SUFFIXES:
        return "delimited"
    if suffix in (".json", ".jsonl", ".ndjson") or start.startswith(
        (b"{", b"[{", b"[\n", b"[\r", b"[ ")
    ):
        return "json"
    return "text" if suffix in (".txt", ".text", ".md") else "delimited"
