"""The members of a zip that is safe to read; one that is not is refused in a sentence before
anything is unpacked.
"""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import IO

from claimlab.core.errors import UnreadableFile
from claimlab.files.bounds import refuse_large, refuse_many
from claimlab.files.packed import PIECE, refuse_bomb

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
            PIECE
        ):  # stops at the declared size; more than that is a wrong checksum
            whole.write(piece)
    if whole.tell() != info.file_size:
        raise EOFError(f"it ends after {whole.tell():,} of {info.file_size:,} bytes")
    return whole.getvalue()


def zip_members(
    source: Path | IO[bytes], name: str, *, rooted: bool = False
) -> dict[str, ZipMember]:
    """The files in an archive that is safe to read, by POSIX path.

    `rooted` accepts names that start with a slash, as some published inner zips have: nothing is
    unpacked to disk, so the slash can simply go.
    """
    try:
        archive = zipfile.ZipFile(source)
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
