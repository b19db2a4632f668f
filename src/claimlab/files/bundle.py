"""One door to foreign files: a folder, a zip, or a single file, as named members that are safe to read.

Archives are untrusted. A member whose path climbs out of the archive, a link, an encrypted member, or an archive whose
unpacked size is out of proportion (a bomb) is refused before anything is read; members are then read in small pieces
and never beyond the size they declare, so that a header that lies cannot fill the memory. Nothing is unpacked to disk.
A zip inside a folder or zip is opened too, one level deep and under the same rules: `inner.zip/a.csv`.
"""

from __future__ import annotations

import fnmatch
import hashlib
import io
import re
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from claimlab.core.digest import digest_file
from claimlab.core.errors import UnreadableFile

MAX_UNPACKED = 4 << 30  # bytes over the whole archive
MAX_RATIO = 100  # unpacked / packed, where it is more than 4 MiB; text packs 3 to 20 times
RATIO_FREE = 4 << 20
MAX_MEMBERS = 200_000
PIECE = 1 << 20  # bytes read at a time: the most that a member can unpack before its declared size is checked
PLAIN_METHODS = (
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
)  # Python can bound what the others unpack only after the fact
DOCUMENTS = (".xlsx", ".docx", ".ods")  # zips that are one document
WORKBOOK = "xl/workbook.xml"
ZIP_ERRORS = (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, NotImplementedError, ValueError)

Member = Path | tuple[zipfile.ZipFile, zipfile.ZipInfo]


class Bundle:
    """Named members of a folder, zip or file. Names are POSIX paths; junk (.DS_Store, __MACOSX) is left out."""

    def __init__(self, path: Path, members: dict[str, Member]) -> None:
        self.path = path
        self._members = {name: member for name, member in members.items() if not _junk(name)}

    @classmethod
    def open(cls, path: str | Path) -> Bundle:
        place = Path(path)
        if not place.exists():
            raise UnreadableFile(f"There is no file or folder '{place}'.", "Check the path.")
        if not place.is_dir() and not place.is_file():
            raise UnreadableFile(f"'{place}' is a pipe or device, not a file.", "Save it to a file first.")
        if place.is_dir():
            files = sorted(p for p in place.rglob("*") if p.is_file() and not p.is_symlink())
            bundle = cls(place, {p.relative_to(place).as_posix(): p for p in files})
        elif _starts_as_zip(place) and zipfile.is_zipfile(place) and place.suffix.lower() not in DOCUMENTS:
            members = _zip_members(place, place.name)
            if WORKBOOK in members:  # a workbook under another name
                return cls(place, {place.name: place})
            bundle = cls(place, members)
        elif place.suffix.lower() == ".zip":
            raise UnreadableFile(f"'{place.name}' is not a whole zip archive (truncated or damaged).", "Get it again.")
        else:
            return cls(place, {place.name: place})
        bundle._open_inner_zips()
        return bundle

    def _open_inner_zips(self) -> None:
        """Put the members of zips inside in the place of these zips. One that is unsafe or damaged stays what it is."""
        for name in [n for n in self._members if n.lower().endswith(".zip")]:
            member = self._members[name]
            try:
                source = member if isinstance(member, Path) else io.BytesIO(_unpack(*member))
                inner = _zip_members(source, name, rooted=True)
            except (UnreadableFile, *ZIP_ERRORS):
                continue
            del self._members[name]
            self._members |= {f"{name}/{n}": m for n, m in inner.items() if not _junk(n)}
        self._members = dict(sorted(self._members.items()))

    def close(self) -> None:
        for member in self._members.values():
            if not isinstance(member, Path):
                member[0].close()

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self) -> list[str]:
        return list(self._members)

    def match(self, *patterns: str) -> list[str]:
        """Members whose whole path, or any tail of it, matches a glob; case does not matter; natural order."""
        names = [n for n in self._members if any(_matches(n, p) for p in patterns)]
        return sorted(names, key=_natural)

    def one(self, *patterns: str) -> str:
        """The first member that matches the first pattern that matches anything; a sentence when none does."""
        for pattern in patterns:
            names = self.match(pattern)
            if names:
                return names[0]
        shown = ", ".join(self.names()[:8]) + (", …" if len(self._members) > 8 else "")
        raise UnreadableFile(
            f"'{self.path.name}' holds no file like {' or '.join(repr(p) for p in patterns)} "
            f"(it holds: {shown or 'nothing'}).",
            "Give the zip or folder as its authors publish it.",
        )

    def local(self, name: str) -> Path | None:
        """The member's own path when it is a plain file on disk, so that large ones can be read without copying."""
        member = self._members[name]
        return member if isinstance(member, Path) else None

    def size(self, name: str) -> int:
        member = self._members[name]
        return member.stat().st_size if isinstance(member, Path) else member[1].file_size

    def read(self, name: str) -> bytes:
        """The bytes of a member."""
        member = self._members[name]
        try:
            return member.read_bytes() if isinstance(member, Path) else _unpack(*member)
        except ZIP_ERRORS as error:
            raise UnreadableFile(f"'{name}' in '{self.path.name}' cannot be read: {error}.", "Get it again.") from None

    def head(self, name: str, size: int) -> bytes:
        """The first `size` bytes of a member."""
        member = self._members[name]
        try:
            with member.open("rb") if isinstance(member, Path) else member[0].open(member[1]) as file:
                return file.read(size)
        except ZIP_ERRORS as error:
            raise UnreadableFile(f"'{name}' in '{self.path.name}' cannot be read: {error}.", "Get it again.") from None

    def text(self, name: str, encoding: str | None = None) -> str:
        from claimlab.files.encoding import decode

        return decode(self.read(name), name, encoding)

    def items(self, *patterns: str) -> Iterator[tuple[str, bytes]]:
        for name in self.match(*patterns) if patterns else self.names():
            yield name, self.read(name)

    def hashes(self) -> dict[str, str]:
        """Name and sha256 of what was given: the zip or file, or each file of a folder (over 200: one hash of all)."""
        if self.path.is_file():
            return {self.path.name: digest_file(self.path)}
        each = {n: digest_file(m) for n, m in self._members.items() if isinstance(m, Path)}
        if len(each) <= 200:
            return each
        joined = "\n".join(f"{h}  {n}" for n, h in sorted(each.items()))
        return {f"{len(each)} files": hashlib.sha256(joined.encode()).hexdigest()}


def check_archive(data: Path | IO[bytes], name: str) -> None:
    """Refuse an archive that another reader will open (a workbook is one) for the reasons any zip is refused."""
    try:
        with zipfile.ZipFile(data) as archive:
            _refuse_unsafe(archive, name)
    except ZIP_ERRORS as error:
        raise UnreadableFile(f"'{name}' is not whole: {error}.", "Get it again.") from None


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member, piece by piece: `ZipFile.read` may unpack 2 GB before it looks at the declared size."""
    whole = io.BytesIO()
    with archive.open(info) as member:
        while piece := member.read(PIECE):  # stops at the declared size; more than that is a wrong checksum
            whole.write(piece)
    if whole.tell() != info.file_size:
        raise EOFError(f"it ends after {whole.tell():,} of {info.file_size:,} bytes")
    return whole.getvalue()


def _starts_as_zip(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(2) == b"PK"  # a table that merely contains the marks of a zip near its end is no zip


def _zip_members(source: Path | IO[bytes], name: str, *, rooted: bool = False) -> dict[str, Member]:
    """The files in an archive that is safe to read, by POSIX path.

    `rooted` accepts names that start with a slash, as some published inner zips have: nothing is unpacked to disk, so
    the slash can simply go.
    """
    try:
        archive = zipfile.ZipFile(source)
    except ZIP_ERRORS as error:
        raise UnreadableFile(f"'{name}' is not a whole zip archive: {error}.", "Get it again.") from None
    try:
        _refuse_unsafe(archive, name, rooted=rooted)
    except UnreadableFile:
        archive.close()
        raise
    return {_posix(info).lstrip("/"): (archive, info) for info in archive.infolist() if not info.is_dir()}


def _posix(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/")


def _refuse_unsafe(archive: zipfile.ZipFile, name: str, *, rooted: bool = False) -> None:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise UnreadableFile(f"'{name}' holds {len(infos):,} files.", f"Split it: at most {MAX_MEMBERS:,} are read.")
    for info in infos:
        _refuse_unsafe_member(info, name, rooted)
    twice, times = Counter(_posix(info).lstrip("/") for info in infos).most_common(1)[0] if infos else ("", 0)
    if times > 1:
        raise UnreadableFile(
            f"'{name}' holds two files named '{twice}'.",
            "Unpack it yourself to see which is meant, then give the folder.",
        )
    unpacked, packed = sum(i.file_size for i in infos), sum(i.compress_size for i in infos)
    _refuse_bomb(f"'{name}'", unpacked, packed)
    if unpacked > MAX_UNPACKED:
        raise UnreadableFile(
            f"'{name}' would unpack to {unpacked / (1 << 30):.1f} GB.", "Unpack it yourself, then give the folder."
        )


def _refuse_unsafe_member(info: zipfile.ZipInfo, name: str, rooted: bool) -> None:
    path = PurePosixPath(_posix(info))
    if (path.is_absolute() and not rooted) or ".." in path.parts or re.match(r"^[A-Za-z]:", info.filename):
        raise UnreadableFile(
            f"'{name}' holds a member that points outside the archive ('{info.filename}').",
            "Do not trust this file; get it from its publisher.",
        )
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnreadableFile(f"'{name}' holds a link ('{info.filename}').", "Pack the files themselves.")
    if info.compress_type not in PLAIN_METHODS:
        raise UnreadableFile(
            f"'{info.filename}' in '{name}' is packed with a method other than deflate.",
            "Unpack it yourself if you trust it, then give the folder.",
        )
    if info.flag_bits & 1:
        raise UnreadableFile(f"'{name}' is encrypted.", "Unpack it with its password, then give the folder.")
    _refuse_bomb(f"'{info.filename}' in '{name}'", info.file_size, info.compress_size)


def _refuse_bomb(what: str, unpacked: int, packed: int) -> None:
    if unpacked > RATIO_FREE and unpacked > MAX_RATIO * max(1, packed):
        raise UnreadableFile(
            f"{what} would unpack to {unpacked / (1 << 20):,.0f} MB, {unpacked // max(1, packed):,} times its size: "
            "it looks like a zip bomb.",
            "Unpack it yourself if you trust it, then give the folder.",
        )


def _junk(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not parts or "__MACOSX" in parts or parts[-1] in (".DS_Store", "Thumbs.db") or parts[-1].startswith("._")


def _matches(name: str, pattern: str) -> bool:
    low, want = name.lower(), pattern.lower()
    return fnmatch.fnmatchcase(low, want) or fnmatch.fnmatchcase(low, "*/" + want)


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [(0, int(t), "") if t.isdigit() else (1, 0, t) for t in re.split(r"(\d+)", name.lower()) if t]
