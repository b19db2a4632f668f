"""A folder or zip of text files, one record each. The folder that a file lies in is often its
label.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.errors import DataError, UnreadableFile
from claimlab.core.progress import Progress
from claimlab.files.bundle import Bundle
from claimlab.files.encoding import read_text, sniff_encoding
from claimlab.files.kinds import HEAD_BYTES, kind_of
from claimlab.files.layout import FileLayout, ReadOptions
from claimlab.files.raw import RawTable, Refused
from claimlab.files.rival_pages import ask, rivals

FOLDER, PATH = "from_folder", "path"  # columns of our own: where a text came from
MANY_FILES = "one text per file"
# different labels in files of their own, and characters of one
MOST_LABELS, LABEL_CHARACTERS = 12, 40
# files that are columns of one table, and bytes of one
MOST_COLUMNS, MOST_COLUMN_BYTES = 4, 1 << 28
_NAME = "name of the file"
TEXT_BYTES = 1 << 20  # bytes of a text that may be one record


def read_texts(
    members: Sequence[tuple[Bundle, str]], options: ReadOptions, progress: Progress
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
    frame = pl.DataFrame(rows, dict.fromkeys(("text", PATH, FOLDER), pl.String), orient="row")
    if frame[FOLDER].n_unique() < 2:
        frame = frame.drop(FOLDER)
    frame = _with_labels_beside(frame.with_columns(pl.when(pl.all() != "").then(pl.all())))
    layout = FileLayout(MANY_FILES, ", ".join(sorted(encodings)))
    return RawTable(MANY_FILES, frame, layout, refused=refused, notes=notes[:20])


def read_columns(members: Sequence[tuple[Bundle, str]], options: ReadOptions) -> RawTable | None:
    """The lines of a few files as the columns of one table, where all have as many lines and those
    of one are labels: texts.txt and labels.txt.
    """
    if not 2 <= len(members) <= MOST_COLUMNS or any(
        b.size(n) > MOST_COLUMN_BYTES for b, n in members
    ):
        return None
    columns: dict[str, list[str]] = {}
    encodings = set()
    for bundle, name in members:
        text, encoding, _ = read_text(bundle.read(name), name, options.encoding)
        encodings.add(encoding)
        columns[PurePosixPath(name).stem] = text.rstrip("\n").replace("\r", "").split("\n")
    if len(columns) < len(members) or not _belong_together(columns):
        return None
    frame = pl.DataFrame(columns).with_columns(pl.when(pl.all() != "").then(pl.all()))
    names = " and ".join(f"'{name}'" for _, name in members)
    layout = FileLayout("one value per line", ", ".join(sorted(encodings)))
    return RawTable(members[0][1], frame, layout, notes=[f"The lines of {names} belong together."])


def _belong_together(columns: Mapping[str, Sequence[str | None]]) -> bool:
    """Whether all columns have as many values, and those of some, but not of all, are labels."""
    height = len(next(iter(columns.values())))
    labels = [set(values) for values in columns.values() if len(set(values)) <= MOST_LABELS]
    alike = {height} == {*map(len, columns.values())} and height >= 2 * MOST_LABELS
    short = all(len(word or "") <= LABEL_CHARACTERS for words in labels for word in words)
    return alike and short and 0 < len(labels) < len(columns)


def side_by_side(tables: Sequence[RawTable], places: Collection[str]) -> RawTable | None:
    """Tables of one column each as one table, where those of one are labels: texts.csv and
    labels.csv; `places` are columns that say where a row came from. Where rows were left out, those
    that are left need not belong together.
    """
    frames = [table.frame.drop(places, strict=False) for table in tables]
    if not 2 <= len(tables) <= MOST_COLUMNS or any(frame.width != 1 for frame in frames):
        return None
    if any(table.refused.total or table.blank for table in tables):
        return None
    columns = {frame.columns[0]: frame.to_series().to_list() for frame in frames}
    if len(columns) < len(tables) or not _belong_together(columns):
        return None
    names = " and ".join(f"'{table.name}'" for table in tables)
    note = f"The rows of {names} belong together."
    literal = frozenset().union(*(table.literal for table in tables))
    notes = [note, *(one for table in tables for one in table.notes)]
    frame = pl.concat(frames, how="horizontal")
    return replace(tables[0], frame=frame, literal=literal, notes=notes)


def _with_labels_beside(frame: pl.DataFrame) -> pl.DataFrame:
    """The texts with their labels, where a folder holds a word on each file of another folder, in a
    file of the same name.
    """
    if FOLDER not in frame.columns or frame[FOLDER].n_unique() != 2:
        return frame
    named = frame.with_columns(pl.col(PATH).str.split("/").list.last().alias(_NAME))
    other, one = sorted(
        named.partition_by(FOLDER), key=lambda part: int(part["text"].str.len_bytes().sum())
    )
    words = other["text"].drop_nulls()
    few = words.n_unique() <= MOST_LABELS and (words.str.len_chars() <= LABEL_CHARACTERS).all()
    if not few or words.len() < 2 * MOST_LABELS or set(one[_NAME]) != set(other[_NAME]):
        return frame
    labels = other.select(_NAME, pl.col("text").alias(str(PurePosixPath(other[FOLDER][0]).name)))
    return one.join(labels, on=_NAME, maintain_order="left").drop(_NAME, FOLDER)


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _checked(data: bytes, name: str) -> bytes:
    if len(data) > TEXT_BYTES:
        raise DataError(
            f"'{name}' holds {len(data) / 1e6:.1f} MB, too much for one text.",
            "If it is a table, pass `delimiter` or rename it to .csv; leave it out with `only`.",
        )
    if data.strip():
        kind_of(data[:HEAD_BYTES], len(data), name)
    return data


def _shared_encoding(files: Iterable[bytes]) -> str | None:
    """The encoding of those files that are not UTF-8, found once for all: one short text is too
    little to tell.
    """
    odd = [data for data in files if not is_utf8(data) and b"\0" not in data]
    if not odd:
        return None
    lines = [line for data in odd for line in data.split(b"\n") if not line.isascii()]
    if not lines:
        return None
    sample = b"\n".join(lines)[: 1 << 20]
    encoding = sniff_encoding(sample)
    if pages := rivals(sample, encoding):
        raise ask(sample, "The texts", pages)
    return encoding
