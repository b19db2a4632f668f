"""Which archives are safe to open. A zip that is not is refused in a sentence before anything is
unpacked; a single file that is packed with gzip or bzip2 (claims.csv.gz) is unpacked in memory
under the same rules.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import IO

from claimlab.core.bounds import refuse_large, refuse_many
from claimlab.core.errors import UnreadableFile
from claimlab.files.source import opened, size_of

ARCHIVE_RATIO = 100  # unpacked / packed, where it is more than 4 MiB; text packs 3 to 20 times
RATIO_FREE_BYTES = 4 << 20
# bytes read at a time: the most that a file can unpack before its size is checked
PIECE_BYTES = 1 << 20
SUFFIXES = (".gz", ".bz2")
TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2")
GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
# what follows the mark of bzip2, so that a text that begins with BZh is not taken for it
_BLOCK = b"1AY&SY"
PLAIN_METHODS = (
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
)  # Python can bound what the others unpack only after the fact
ZipMember = tuple[zipfile.ZipFile, zipfile.ZipInfo]
ZIP_ERRORS = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,
    EOFError,
    NotImplementedError,
    ValueError,
)


def is_packed(head: bytes, name: str) -> bool:
    """Whether a file is packed with gzip or bzip2, by its first bytes. Archives of several files
    (.tar.gz) are not.
    """
    bzip2 = head.startswith(BZIP2) and head[4:10] == _BLOCK
    return (head.startswith(GZIP) or bzip2) and not name.lower().endswith(TARS)


def plain_name(name: str) -> str:
    """The name without the mark of the packer: claims.csv.gz is claims.csv."""
    return name[: name.rindex(".")] if name.lower().endswith(SUFFIXES) else name


def unpack(source: Path | bytes, name: str) -> bytes:
    """What a packed file holds, piece by piece: it is refused as soon as it is out of
    proportion.
    """
    size, whole = size_of(source), io.BytesIO()
    try:
        with opened(source) as raw, _unpacking(raw) as file:
            while piece := file.read(PIECE_BYTES):
                whole.write(piece)
                refuse_bomb(f"'{name}'", whole.tell(), size)
                refuse_large(f"'{name}'", whole.tell())
    except (OSError, EOFError, ValueError) as error:
        raise UnreadableFile(f"'{name}' cannot be unpacked: {error}.", "Get it again.") from None
    return whole.getvalue()


def _unpacking(raw: IO[bytes]) -> IO[bytes]:
    mark = raw.read(3)
    raw.seek(0)
    if mark.startswith(GZIP):
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    return bz2.BZ2File(raw) if mark == BZIP2 else raw


def refuse_bomb(what: str, unpacked: int, packed: int) -> None:
    if unpacked > RATIO_FREE_BYTES and unpacked > ARCHIVE_RATIO * max(1, packed):
        raise UnreadableFile(
            f"{what} would unpack to {unpacked / (1 << 20):,.0f} MB, {unpacked // max(1, packed):,}"
            " times its size: it looks like a zip bomb.",
            "Unpack it yourself if you trust it, then give the folder.",
        )


def check_archive(data: Path | IO[bytes], name: str) -> None:
    """Refuse an archive that another reader will open (a workbook is one) for the reasons any zip
    is refused.
    """
    try:
        with zipfile.ZipFile(data) as archive:
            _refuse_unsafe(archive, name)
    except ZIP_ERRORS as error:
        raise UnreadableFile(f"'{name}' is not whole: {error}.", "Get it again.") from None


def unpack_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member, piece by piece: `ZipFile.read` may unpack 2 GB before it looks at the declared
    size.
    """
    whole = io.BytesIO()
    with archive.open(info) as member:
        while piece := member.read(
            PIECE_BYTES
        ):  # stops at the declared size; more than that is a wrong checksum
            whole.write(piece)
    if whole.tell() != info.file_size:
        raise EOFError(f"it ends after {whole.tell():,} of {info.file_size:,} bytes")
    return whole.getvalue()


def _zip_of(source: Path | bytes, name: str) -> bytes:
    """The files of a tar archive as a zip in memory, for which the same rules hold."""
    refuse_large(f"'{name}'", size_of(source))
    whole = io.BytesIO(unpack(source, name))
    archive = io.BytesIO()
    try:
        with tarfile.open(fileobj=whole) as tar, zipfile.ZipFile(archive, "w") as files:
            for member in tar:
                if member.issparse():  # its gaps may be far larger than the archive
                    raise UnreadableFile(
                        f"'{name}' holds a sparse file ('{member.name}').",
                        "Pack the files as they are, without leaving out their gaps.",
                    )
                if (file := tar.extractfile(member) if member.isfile() else None) is not None:
                    files.writestr(member.name.removeprefix("./"), file.read())
    except (tarfile.TarError, *ZIP_ERRORS) as error:
        raise UnreadableFile(
            f"'{name}' is not a whole tar archive: {error}.", "Get it again."
        ) from None
    return archive.getvalue()


def archive_members(
    source: Path | bytes, name: str, *, rooted: bool = False
) -> dict[str, ZipMember]:
    """The files in a zip or tar archive that is safe to read, by POSIX path.

    `rooted` accepts names that start with a slash, as some published inner zips have: nothing is
    unpacked to disk, so the slash can simply go.
    """
    tar = name.lower().endswith(TARS)
    try:
        archive = zipfile.ZipFile(opened(_zip_of(source, name) if tar else source))
    except ZIP_ERRORS as error:
        raise UnreadableFile(
            f"'{name}' is not a whole zip archive: {error}.", "Get it again."
        ) from None
    try:
        _refuse_unsafe(archive, name, rooted=rooted)
    except UnreadableFile:
        archive.close()
        raise
    return {
        _posix(info).lstrip("/"): (archive, info)
        for info in archive.infolist()
        if not info.is_dir()
    }


def _posix(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/")


def _refuse_unsafe(archive: zipfile.ZipFile, name: str, *, rooted: bool = False) -> None:
    infos = archive.infolist()
    refuse_many(name, len(infos))
    for info in infos:
        _refuse_unsafe_member(info, name, rooted)
    twice, times = (
        Counter(_posix(info).lstrip("/") for info in infos).most_common(1)[0] if infos else ("", 0)
    )
    if times > 1:
        raise UnreadableFile(
            f"'{name}' holds two files named '{twice}'.",
            "Unpack it yourself to see which is meant, then give the folder.",
        )
    unpacked, packed = sum(i.file_size for i in infos), sum(i.compress_size for i in infos)
    refuse_bomb(f"'{name}'", unpacked, packed)
    refuse_large(f"'{name}'", unpacked)


def _refuse_unsafe_member(info: zipfile.ZipInfo, name: str, rooted: bool) -> None:
    path = PurePosixPath(_posix(info))
    if (
        (path.is_absolute() and not rooted)
        or ".." in path.parts
        or re.match(r"^[A-Za-z]:", info.filename)
    ):
        raise UnreadableFile(
            f"'{name}' holds a member that points outside the archive ('{info.filename}').",
            "Do not trust this file; get it from its publisher.",
        )
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnreadableFile(
            f"'{name}' holds a link ('{info.filename}').", "Pack the files themselves."
        )
    if info.compress_type not in PLAIN_METHODS:
        raise UnreadableFile(
            f"'{info.filename}' in '{name}' is packed with a method other than deflate.",
            "Unpack it yourself if you trust it, then give the folder.",
        )
    if info.flag_bits & 1:
        raise UnreadableFile(
            f"'{name}' is encrypted.", "Unpack it with its password, then give the folder."
        )
    refuse_bomb(f"'{info.filename}' in '{name}'", info.file_size, info.compress_size)
