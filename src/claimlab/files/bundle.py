"""One door to foreign files: a folder, a zip, or a single file, as named members that are safe to read.

Archives are untrusted. A member whose path climbs out of the archive, a link, an encrypted member, or an archive whose
unpacked size is out of proportion (a bomb) is refused before anything is read. Nothing is ever unpacked to disk.
"""

from __future__ import annotations

import fnmatch
import re
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from claimlab.core.errors import UnreadableFile

MAX_UNPACKED = 4 << 30  # bytes over the whole archive
MAX_RATIO = 200  # unpacked / packed, for members over 64 MiB; text packs 3 to 20 times
RATIO_FREE = 64 << 20
MAX_MEMBERS = 200_000


class Bundle:
    """Named members of a folder, zip or file. Names are POSIX paths; junk (.DS_Store, __MACOSX) is left out."""

    def __init__(self, path: Path, members: dict[str, zipfile.ZipInfo | Path], archive: zipfile.ZipFile | None) -> None:
        self.path = path
        self._members = members
        self._archive = archive

    @classmethod
    def open(cls, path: str | Path) -> Bundle:
        place = Path(path)
        if not place.exists():
            raise UnreadableFile(f"There is no file or folder '{place}'.", "Check the path.")
        if place.is_dir():
            files = sorted(p for p in place.rglob("*") if p.is_file() and not p.is_symlink())
            names = {p.relative_to(place).as_posix(): p for p in files}
            return cls(place, {n: p for n, p in names.items() if not _junk(n)}, None)
        if zipfile.is_zipfile(place) and place.suffix.lower() not in (".xlsx", ".docx", ".ods"):
            archive = _open_zip(place)
            infos = {i.filename.replace("\\", "/"): i for i in archive.infolist() if not i.is_dir()}
            return cls(place, {n: i for n, i in sorted(infos.items()) if not _junk(n)}, archive)
        if place.suffix.lower() == ".zip":
            raise UnreadableFile(f"'{place.name}' is not a whole zip archive (truncated or damaged).", "Get it again.")
        return cls(place, {place.name: place}, None)

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self) -> list[str]:
        return list(self._members)

    def match(self, *patterns: str) -> list[str]:
        """Members whose whole path, or any tail of it, matches a glob; case does not matter; natural order."""
        found = [n for n in self._members if any(_matches(n, p) for p in patterns)]
        return sorted(found, key=_natural)

    def one(self, *patterns: str) -> str:
        """The first member that matches the first pattern that matches anything; a sentence when none does."""
        for pattern in patterns:
            found = self.match(pattern)
            if found:
                return found[0]
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
        return member.stat().st_size if isinstance(member, Path) else member.file_size

    def read(self, name: str) -> bytes:
        """The bytes of a member."""
        member = self._members[name]
        try:
            if isinstance(member, Path):
                return member.read_bytes()
            assert self._archive is not None
            return self._archive.read(member)
        except (OSError, zipfile.BadZipFile, RuntimeError, EOFError, NotImplementedError) as error:
            raise UnreadableFile(f"'{name}' in '{self.path.name}' cannot be read: {error}.", "Get it again.") from None

    def text(self, name: str, encoding: str | None = None) -> str:
        from claimlab.files.encoding import decode

        return decode(self.read(name), name, encoding)

    def items(self, *patterns: str) -> Iterator[tuple[str, bytes]]:
        for name in self.match(*patterns) if patterns else self.names():
            yield name, self.read(name)


def _open_zip(place: Path) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(place)
    except (OSError, zipfile.BadZipFile) as error:
        raise UnreadableFile(f"'{place.name}' is not a whole zip archive: {error}.", "Get it again.") from None
    try:
        _refuse_unsafe(archive, place)
    except UnreadableFile:
        archive.close()
        raise
    return archive


def _refuse_unsafe(archive: zipfile.ZipFile, place: Path) -> None:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise UnreadableFile(
            f"'{place.name}' holds {len(infos):,} files.", f"Split it: at most {MAX_MEMBERS:,} are read."
        )
    for info in infos:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or re.match(r"^[A-Za-z]:", info.filename):
            raise UnreadableFile(
                f"'{place.name}' holds a member that points outside the archive ('{info.filename}').",
                "Do not trust this file; get it from its publisher.",
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise UnreadableFile(f"'{place.name}' holds a link ('{info.filename}').", "Pack the files themselves.")
        if info.flag_bits & 1:
            raise UnreadableFile(f"'{place.name}' is encrypted.", "Unpack it with its password, then give the folder.")
        if info.file_size > RATIO_FREE and info.file_size > MAX_RATIO * max(1, info.compress_size):
            raise UnreadableFile(
                f"'{info.filename}' in '{place.name}' would unpack to {info.file_size / (1 << 30):.1f} GB, "
                f"{info.file_size // max(1, info.compress_size)} times its size: it looks like a zip bomb.",
                "Unpack it yourself if you trust it, then give the folder.",
            )
    total = sum(info.file_size for info in infos)
    if total > MAX_UNPACKED:
        raise UnreadableFile(
            f"'{place.name}' would unpack to {total / (1 << 30):.1f} GB.",
            "Unpack it yourself, then give the folder.",
        )


def _junk(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or parts[-1] in (".DS_Store", "Thumbs.db") or parts[-1].startswith("._")


def _matches(name: str, pattern: str) -> bool:
    low, want = name.lower(), pattern.lower()
    return fnmatch.fnmatchcase(low, want) or fnmatch.fnmatchcase(low, "*/" + want)


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [(0, int(t), "") if t.isdigit() else (1, 0, t) for t in re.split(r"(\d+)", name.lower()) if t]
