"""Write a file or a whole folder so that a reader sees either the old one or the new one, never
half of one.

A folder is built beside its target under a hidden name and then swapped in with one system call
where the kernel offers it (Linux), or by two renames that the next write or read can undo.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claimlab.core.types import JsonObject

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100
_DAY_SECONDS = 86_400.0
in_place: set[Path] = set()  # folders that this process has put in place


@contextlib.contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder; when the block succeeds, it becomes `target`, replacing what was
    there.
    """
    target = target.absolute()  # not resolve(): a link is replaced, not what it points at
    target.parent.mkdir(parents=True, exist_ok=True)
    recover(target)
    sweep(target)
    building = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
    try:
        yield building
        building.chmod(0o777 & ~_umask())
        _sync(building)
        _swap(building, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def atomic_text(target: Path, text: str) -> None:
    """Write `text` to `target` in one step."""
    atomic_bytes(target, text.encode("utf-8"))


def quick_text(path: Path, text: str) -> None:
    """The same without forcing it to the disk: a killed process loses nothing, a loss of power may.
    For what can be made again."""
    building = path.with_name(
        f".{path.name}.building"
    )  # what a killed process leaves is replaced by the next
    building.write_text(text, encoding="utf-8")
    building.replace(path)


def read_object(file: Path) -> JsonObject:
    """The JSON object in a file; empty where there is none that can be read."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def atomic_bytes(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep(target)
    handle, name = tempfile.mkstemp(prefix=_prefix(target), dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def put(building: Path, target: Path) -> None:
    """Move a finished file or folder to `target` in one step, replacing what was there; both are on
    one disk.
    """
    if not building.is_dir():
        with building.open("rb") as file:
            os.fsync(file.fileno())
        building.replace(target)
        return
    _sync(building)
    _swap(building, target)
    shutil.rmtree(building, ignore_errors=True)  # it now names what was replaced


def recover(target: Path) -> None:
    """Put back the old folder if a two-step swap was cut between its steps."""
    old = target.parent / f".{target.name}.replaced"
    if old.exists() and not target.exists():
        old.rename(target)


def sweep(target: Path) -> None:
    """Remove what killed runs left beside `target`: what a process of this machine that is gone was
    building. Another machine, or container, that sees the folder has processes that are not known
    here: what it builds is left alone for a day."""
    for leftover in target.parent.glob(f".{target.name}.building-*"):
        machine, _, rest = leftover.name.rsplit(".building-", 1)[1].partition("-")
        pid = rest.split("-")[0]
        if (machine == _machine() and pid.isdigit() and _alive(int(pid))) or (
            machine != _machine() and _young(leftover)
        ):
            continue
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    return f".{target.name}.building-{_machine()}-{os.getpid()}-"


@cache
def _machine() -> str:
    """Where a process number means a process: this machine, or this container on it."""
    try:
        processes = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        processes = ""
    return hashlib.sha256(f"{socket.gethostname()} {processes}".encode()).hexdigest()[:8]


def _young(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < _DAY_SECONDS
    except FileNotFoundError:
        return True  # just put in place, or removed


def _swap(building: Path, target: Path) -> None:
    _move(building, target)
    in_place.add(target.absolute())


def _move(building: Path, target: Path) -> None:
    if not target.exists():
        building.rename(target)
        return
    if _exchange(building, target):
        return  # `building` now names the old folder, which the caller removes
    old = target.parent / f".{target.name}.replaced"
    shutil.rmtree(old, ignore_errors=True)
    target.rename(old)
    building.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE)
    return bool(done == 0)


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
