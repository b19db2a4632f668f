"""What was downloaded, by its sha256, in the cache folder: `downloads/sha256/AB/ABCDEF...`.

A file is there whole or not at all: it is written beside under another name, hashed, and moved. It
is hashed again before it is used, since a cache can be changed by anybody. Processes need no lock
for that to hold; one that is already fetching a file is waited for only by its own part file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from claimlab.core.digest import digest_json, digest_once
from claimlab.core.errors import DataError
from claimlab.core.places import cache_folder

READ_ONLY = 0o444
PARTS_KEPT_DAYS = 7  # of downloads that were never finished


def downloads_folder() -> Path:
    return cache_folder().absolute() / "downloads"


def stored(sha256: str) -> Path | None:
    """The file with this hash, if it is here; one that was changed is set aside."""
    file = _place(sha256)
    try:
        state = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISREG(state.st_mode) and digest_once(file) == sha256:
        return file
    with contextlib.suppress(OSError):
        file.rename(file.with_name(f".{sha256}.changed-{uuid.uuid4().hex[:8]}"))
    return None


def keep(part: Path, sha256: str) -> Path:
    """Move a finished download to its place."""
    file = _place(sha256)
    file.parent.mkdir(parents=True, exist_ok=True)
    part.chmod(READ_ONLY)
    part.replace(file)
    return file


def keep_copy(source: Path, sha256: str) -> Path:
    """Copy a file of the user that has this hash to its place."""
    with part_of(sha256) as part:
        shutil.copyfile(source, part)
        return keep(part, sha256)


@contextlib.contextmanager
def part_of(key: str) -> Iterator[Path]:
    """Where a download is written until it is whole: what an earlier start has left of it, unless
    another process is at it.
    """
    folder = downloads_folder() / "parts"
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    shared = folder / f"{name}.part"
    with _owned(folder / f"{name}.lock") as ours:
        yield shared if ours else folder / f"{name}-{os.getpid()}-{uuid.uuid4().hex[:8]}.part"


@contextlib.contextmanager
def _owned(file: Path) -> Iterator[bool]:
    """Whether this process alone holds `file`; the system frees it when the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows: each process has a part of its own
        yield False
        return
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = True
        except OSError:
            ours = False
        yield ours
    finally:
        os.close(handle)


def gathered(files: Mapping[str, str], called: str) -> Path:
    """A folder with the stored files under their names: name -> sha256. It is made of links where
    the disk has them, and made again where a file in it was changed; `called` is its own name.
    """
    folder = downloads_folder() / "folders" / digest_json(dict(files))[:32] / called
    if folder.is_dir() and _as_listed(folder, files):
        return folder
    building = folder.with_name(f".{folder.name}.building-{os.getpid()}-{uuid.uuid4().hex[:8]}")
    try:
        for name, sha256 in files.items():
            target = building / safe_name(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            source = stored(sha256)
            if source is None:
                raise DataError(
                    f"'{name}' is no longer in the cache.", "Run the same command again."
                )
            _link(source, target)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process was first: with the same files
            building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return folder


def _as_listed(folder: Path, files: Mapping[str, str]) -> bool:
    there = {
        file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()
    }
    return there.keys() == files.keys() and all(
        not file.is_symlink() and digest_once(file) == files[name] for name, file in there.items()
    )


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # no links on this disk
        shutil.copyfile(source, target)


def safe_name(name: str) -> str:
    """A name that a host gave, as a path below a folder."""
    parts = name.split("/")
    unsafe = any(part in ("", ".", "..") for part in parts) or any(
        character in name for character in ("\\", "\0", ":")
    )
    if unsafe or name.startswith("/"):
        raise DataError(
            f"'{name}' is not a safe name for a file.", "Nothing was written; tell its publisher."
        )
    return name


def occupied() -> int:
    """Bytes of all that is in the cache of downloads; a file with two names counts once."""
    seen: dict[tuple[int, int], int] = {}
    for file in downloads_folder().rglob("*"):
        with contextlib.suppress(OSError):
            state = file.lstat()
            if stat.S_ISREG(state.st_mode):
                seen[state.st_dev, state.st_ino] = state.st_size
    return sum(seen.values())


def empty() -> int:
    """Remove all downloads; returns how many bytes they had."""
    size = occupied()
    shutil.rmtree(downloads_folder(), ignore_errors=True)
    return size


def _place(sha256: str) -> Path:
    return downloads_folder() / "sha256" / sha256[:2] / sha256
