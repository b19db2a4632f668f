"""One process at a time for one output: the operating system holds the lock, so a killed process
leaves none behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from pathlib import Path

from claimlab.core.errors import OutputBusy

PATIENCE_SECONDS = 1.0  # seconds: who has just taken the lock writes its name a moment later


class Lock:
    """Held from `__init__` to `release`. The file names its holder, for the message that another
    process gets.
    """

    def __init__(self, file: Path, output: Path, verb: str) -> None:
        self.file = file
        while True:
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
            except FileNotFoundError:
                continue  # its folder was removed by a process that has just finished
            try:
                _take(self._handle)
            except OSError:
                holder = _holder(self._handle)
                os.close(self._handle)
                raise OutputBusy(output, holder) from None
            if _same(self._handle, file):
                break
            os.close(self._handle)  # the holder before us has removed the file that we waited for
        os.ftruncate(self._handle, 0)
        os.write(
            self._handle,
            json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "verb": verb}).encode(),
        )

    def release(self) -> None:
        """Remove the file and let the next process in; the folder goes too where nothing else is in
        it.
        """
        with contextlib.suppress(
            OSError
        ):  # Windows removes no open file: it stays, and does no harm
            self.file.unlink(missing_ok=True)
        os.close(self._handle)
        with contextlib.suppress(OSError):
            self.file.parent.rmdir()


def _take(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _same(handle: int, file: Path) -> bool:
    try:
        return os.fstat(handle).st_ino == file.stat().st_ino
    except FileNotFoundError:
        return False


def _holder(handle: int) -> str:
    end = time.monotonic() + PATIENCE_SECONDS
    while not (name := _written(handle)) and time.monotonic() < end:
        time.sleep(0.01)
    try:
        who = json.loads(name)
        where = "" if who["host"] == socket.gethostname() else f" on {who['host']}"
        return f"claimlab {who['verb']}, process {who['pid']}{where}"
    except (ValueError, KeyError, TypeError):
        return "another claimlab process"


def _written(handle: int) -> bytes:
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        return os.read(handle, 1000)
    except OSError:  # on Windows a locked file cannot be read
        return b""
