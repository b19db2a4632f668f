"""One door to foreign files: a folder, a zip, or a single file, as named members that are safe to
read.

Archives are untrusted. A member whose path climbs out of the archive, a link, an encrypted member,
or an archive whose unpacked size is out of proportion (a bomb) is refused before anything is read;
members are then read in small pieces and never beyond the size they declare, so that a header that
lies cannot fill the memory. Nothing is unpacked to disk. A tar archive is opened as a zip is, and
either inside a folder or archive, too, one level deep and under the same rules: `inner.zip/a.csv`.
So is a file that is packed by itself: `a.csv.gz` is the member `a.csv`; and so are the tables of an
SQLite database. A folder of the Hugging Face hub's cache is the files of its newest revision.
"""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from claimlab.core.digest import digest_once
from claimlab.core.errors import UnreadableFile, either
from claimlab.files import sqlite
from claimlab.files.archives import (
    SUFFIXES,
    TARS,
    ZIP_ERRORS,
    ZipMember,
    archive_members,
    is_packed,
    plain_name,
    unpack,
    unpack_member,
)
from claimlab.files.hub_cache import is_cached, snapshot
from claimlab.files.raw import unique_names

DOCUMENTS = (".xlsx", ".docx", ".ods")  # zips that are one document
WORKBOOK = "xl/workbook.xml"

Stored = Path | ZipMember


@dataclass(frozen=True)
class Packed:
    """A member that is packed with gzip or bzip2."""

    stored: Stored


@dataclass(frozen=True)
class DatabaseTable:
    """A table of an SQLite database, which is a file, or the bytes of one that was packed."""

    database: Path | bytes
    name: str


Member = Stored | Packed | DatabaseTable


def present(place: Path) -> Path:
    """The path, where there is something."""
    if not place.exists():
        raise UnreadableFile(f"There is no file or folder '{place}'.", _meant(place))
    return place


class Bundle:
    """Named members of a folder, zip or file. Names are POSIX paths; junk (.DS_Store, __MACOSX) is
    left out.
    """

    def __init__(self, path: Path, members: Mapping[str, Member]) -> None:
        self.path = path
        self._unpacked: tuple[str, bytes] | None = None  # the packed member that was read last
        self._members = {name: member for name, member in members.items() if not _junk(name)}

    @classmethod
    def open(cls, path: str | Path) -> Bundle:
        place = snapshot(present(Path(path)))
        if place.is_dir():
            return cls(place, _files_in(place))._unfolded()
        if not place.is_file():
            raise UnreadableFile(
                f"'{place}' is a pipe or device, not a file.", "Save it to a file first."
            )
        suffix = place.suffix.lower()
        if suffix not in DOCUMENTS and _starts_as_zip(place) and zipfile.is_zipfile(place):
            members = archive_members(place, place.name)
            if WORKBOOK in members:  # a workbook under another name
                return cls(place, {place.name: place})
            return cls(place, members)._unfolded()
        if place.name.lower().endswith(TARS):
            return cls(place, archive_members(place, place.name))._unfolded()
        if suffix == ".zip":
            raise UnreadableFile(
                f"'{place.name}' is not a whole zip archive (truncated or damaged).",
                "Get it again.",
            )
        return cls._single(place)

    def _unfolded(self) -> Bundle:
        self._open_inner_zips()
        self._name_packed()
        self._open_databases()
        return self

    @classmethod
    def _single(cls, place: Path) -> Bundle:
        with place.open("rb") as file:
            packed = is_packed(file.read(10), place.name)
        named = {plain_name(place.name): Packed(place)} if packed else {place.name: place}
        bundle = cls(place, named)
        bundle._open_databases()
        return bundle

    def _name_packed(self) -> None:
        """Give packed members the names of what is in them, unless that name is taken."""
        for name in [n for n in self._members if n.lower().endswith(SUFFIXES)]:
            stored = self._stored(name)
            taken = plain_name(name) in self._members
            if (
                not isinstance(stored, Packed)
                and not taken
                and is_packed(self.head(name, 10), name)
            ):
                del self._members[name]
                self._members[plain_name(name)] = Packed(stored)
        self._members = dict(sorted(self._members.items()))

    def is_named(self, name: str) -> bool:
        """Whether the member is the file itself that the user named."""
        return _stored_in(self._members[name]) == self.path

    def _open_inner_zips(self) -> None:
        """Put the members of zips and tar archives inside in the place of these. One that is unsafe
        or damaged stays what it is.
        """
        for name in [n for n in self._members if n.lower().endswith((".zip", *TARS))]:
            member = self._members[name]
            try:
                source = member if isinstance(member, Path) else self.read(name)
                inner = archive_members(source, name, rooted=True)
            except (UnreadableFile, *ZIP_ERRORS):
                continue
            del self._members[name]
            self._members |= {f"{name}/{n}": m for n, m in inner.items() if not _junk(n)}
        self._members = dict(sorted(self._members.items()))

    def _open_databases(self) -> None:
        """Put the tables of databases in the place of these; a damaged one in a folder stays."""
        for name in list(self._members):
            if name not in self._members:  # the log of a database
                continue
            alone = self.is_named(name)
            if not (alone or name.lower().endswith(sqlite.SUFFIXES)):
                continue
            if self.head(name, len(sqlite.MAGIC)) != sqlite.MAGIC:
                continue
            source = self.local(name) or self.read(name)
            try:
                tables = sqlite.tables_in(source, name)
            except UnreadableFile:
                if alone:
                    raise
                continue
            for own in ("", "-shm", *sqlite.LOGS):
                self._members.pop(name + own, None)
            plain = unique_names(re.sub(r"[./]", "_", table) for table in tables)
            for member, table in zip(plain, tables, strict=True):
                self._members[member if alone else f"{name}/{member}"] = DatabaseTable(
                    source, table
                )

    def close(self) -> None:
        for member in self._members.values():
            stored = _stored_in(member)
            if isinstance(stored, tuple):
                stored[0].close()

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def names(self) -> list[str]:
        return list(self._members)

    def match(self, *patterns: str) -> list[str]:
        """Members whose whole path, or any tail of it, matches a glob; case does not matter;
        natural order.
        """
        names = [n for n in self._members if any(_matches(n, p) for p in patterns)]
        return sorted(names, key=_natural)

    def one(self, *patterns: str) -> str:
        """The first member that matches the first pattern that matches anything; a sentence when
        none does.
        """
        for pattern in patterns:
            names = self.match(pattern)
            if names:
                return names[0]
        listed = ", ".join(self.names()[:8]) + (", …" if len(self._members) > 8 else "")
        raise UnreadableFile(
            f"'{self.path.name}' holds no file like {' or '.join(repr(p) for p in patterns)} "
            f"(it holds: {listed or 'nothing'}).",
            "Give the zip or folder as its authors publish it.",
        )

    def local(self, name: str) -> Path | None:
        """The member's own path when it is a plain file on disk, so that large ones can be read
        without copying.
        """
        member = self._members[name]
        return member if isinstance(member, Path) else None

    def table(self, name: str) -> DatabaseTable | None:
        """The table of a database that the member is."""
        member = self._members[name]
        return member if isinstance(member, DatabaseTable) else None

    def size(self, name: str) -> int:
        member = self._stored(name)
        if isinstance(member, Packed):
            return len(self.read(name))
        return member.stat().st_size if isinstance(member, Path) else member[1].file_size

    def _stored(self, name: str) -> Stored | Packed:
        member = self._members[name]
        if isinstance(member, DatabaseTable):
            raise UnreadableFile(f"'{name}' is a table of a database.", "Give a file.")
        return member

    def read(self, name: str) -> bytes:
        """The bytes of a member."""
        member = self._stored(name)
        with self._reading(name):
            if isinstance(member, Packed):
                return self._unpack(name, member.stored)
            return member.read_bytes() if isinstance(member, Path) else unpack_member(*member)

    def _unpack(self, name: str, stored: Stored) -> bytes:
        if self._unpacked is None or self._unpacked[0] != name:
            packed = stored if isinstance(stored, Path) else unpack_member(*stored)
            self._unpacked = (name, unpack(packed, name))
        return self._unpacked[1]

    def head(self, name: str, size: int) -> bytes:
        """The first `size` bytes of a member."""
        member = self._stored(name)
        if isinstance(member, Packed):
            return self.read(name)[:size]
        with self._reading(name):
            source = member.open("rb") if isinstance(member, Path) else member[0].open(member[1])
            with source as file:
                return file.read(size)

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Say in a sentence what is wrong with a member that cannot be read."""
        try:
            yield
        except ZIP_ERRORS as error:
            raise UnreadableFile(
                f"'{name}' in '{self.path.name}' cannot be read: {error}.", "Get it again."
            ) from None

    def text(self, name: str, encoding: str | None = None) -> str:
        from claimlab.files.encoding import decode

        return decode(self.read(name), name, encoding)

    def hashes(self) -> dict[str, str]:
        """Name and sha256 of what was given: the zip or file, or each file of a folder (over 200:
        one hash of all).
        """
        if self.path.is_file():
            return {self.path.name: digest_once(self.path)}
        stored = {n: _stored_in(member) for n, member in self._members.items()}
        each = {n: digest_once(place) for n, place in stored.items() if isinstance(place, Path)}
        if len(each) <= 200:
            return each
        joined = "\n".join(f"{h}  {n}" for n, h in sorted(each.items()))
        return {f"{len(each)} files": hashlib.sha256(joined.encode()).hexdigest()}


@contextmanager
def open_all(paths: Iterable[str | Path]) -> Iterator[list[Bundle]]:
    """A bundle for each path, open while they are read."""
    with ExitStack() as stack:
        yield [stack.enter_context(Bundle.open(path)) for path in paths]


def _files_in(folder: Path) -> dict[str, Member]:
    """The files of a folder, without links that lead elsewhere."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path
        for path in files
        if not path.is_symlink() or is_cached(path)
    }


def _stored_in(member: Member) -> Stored | bytes:
    if isinstance(member, DatabaseTable):
        return member.database
    return member.stored if isinstance(member, Packed) else member


def _starts_as_zip(place: Path) -> bool:
    with place.open("rb") as file:
        return (
            file.read(2) == b"PK"
        )  # a table that merely contains the marks of a zip near its end is not a zip


def _meant(place: Path) -> str:
    """What a mistyped path was probably meant to be."""
    names = [beside.name for beside in place.parent.iterdir()] if place.parent.is_dir() else []
    near = difflib.get_close_matches(place.name, sorted(names), n=2, cutoff=0.7)
    return (
        f"Did you mean {either([str(place.parent / name) for name in near])}?"
        if near
        else "Check the path."
    )


def _junk(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return (
        not parts
        or "__MACOSX" in parts
        or parts[-1] in (".DS_Store", "Thumbs.db")
        or parts[-1].startswith("._")
    )


def _matches(name: str, pattern: str) -> bool:
    low, want = name.lower(), pattern.lower()
    return fnmatch.fnmatchcase(low, want) or fnmatch.fnmatchcase(low, "*/" + want)


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(t), "") if t.isdigit() else (1, 0, t) for t in re.split(r"(\d+)", name.lower()) if t
    ]
