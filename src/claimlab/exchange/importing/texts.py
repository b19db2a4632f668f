"""A folder or zip of text files, one record each. The folder that a file lies in is often its
label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.errors import DataError, UnreadableFile
from claimlab.core.progress import Progress
from claimlab.files.bundle import Bundle
from claimlab.files.encoding import read_text, sniff_encoding
from claimlab.files.kinds import HEAD, kind_of
from claimlab.files.raw import Layout, Options, RawTable, Refused

FOLDER, PATH = "from_folder", "path"  # columns of our own: where a text came from
MANY = "one text per file"
LONGEST = 1 << 20  # bytes of a text that may be one record


def read_texts(
    members: Sequence[tuple[Bundle, str]], options: Options, progress: Progress
) -> RawTable:
    refused = Refused(unit="file")
    files: list[tuple[str, bytes]] = []
    for number, (bundle, name) in enumerate(members, 1):
        if number % 500 == 1:
            progress("reading files", number - 1, len(members))
        try:
            files.append((name, _checked(bundle.read(name), name)))
        except UnreadableFile as error:
            refused.add(number, "a file that is not text", error.problem)
        except DataError as error:
            refused.add(number, "too long for one text", error.problem)
    progress("reading files", len(members), len(members))
    shared = _shared_encoding(data for _, data in files) if options.encoding is None else None
    rows: list[tuple[str, str, str]] = []
    encodings, notes = set(), []
    for name, data in files:
        text, encoding, remarks = read_text(
            data, name, options.encoding, None if is_utf8(data) else shared
        )
        encodings.add(encoding)
        notes += remarks
        place = PurePosixPath(name)
        rows.append((text.strip(), str(place.with_suffix("")), str(place.parent)))
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    frame = pl.DataFrame(
        dict(zip(("text", PATH, FOLDER), columns, strict=True)),
        schema_overrides={"text": pl.String},
    )
    if frame[FOLDER].n_unique() < 2:
        frame = frame.drop(FOLDER)
    frame = frame.with_columns(pl.when(pl.all() != "").then(pl.all()))
    layout = Layout(MANY, ", ".join(sorted(encodings)))
    return RawTable(MANY, frame, layout, refused=refused, notes=notes[:20])


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _checked(data: bytes, name: str) -> bytes:
    if len(data) > LONGEST:
        raise DataError(
            f"'{name}' holds {len(data) / 1e6:.1f} MB, too much for one text.",
            "If it is a table, pass `delimiter` or rename it to .csv; leave it out with `only`.",
        )
    if data.strip():
        kind_of(data[:HEAD], len(data), name)
    return data


def _shared_encoding(files: Iterable[bytes]) -> str | None:
    """The encoding of those files that are not UTF-8, found once for all: one short text is too
    little to tell.
    """
    odd = [data for data in files if not is_utf8(data) and b"\0" not in data]
    if not odd:
        return None
    lines = [line for data in odd for line in data.split(b"\n") if not line.isascii()]
    return sniff_encoding(b"\n".join(lines)[: 1 << 20]) if lines else None
