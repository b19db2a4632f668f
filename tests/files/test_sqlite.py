"""Databases that another program has open or left in the middle of a change: what was committed is
read, or the database is refused, and nothing beside it is made, changed or removed.
"""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimlab.core.errors import UnreadableFile
from claimlab.files.bundle import Bundle
from claimlab.files.layout import ReadOptions
from claimlab.files.read import read_table

N = 400
ROW = "The council said in {} that the old bridge is safe"

Seen = dict[str, tuple[int, int]]  # size and time of change, by name


def rows(path: Path, table: str = "claims") -> list[str | None]:
    with Bundle.open(path) as bundle:
        return read_table(bundle, table, ReadOptions()).frame["text"].to_list()


def files(folder: Path) -> Seen:
    return {
        one.name: (one.stat().st_size, one.stat().st_mtime_ns) for one in sorted(folder.iterdir())
    }


@contextlib.contextmanager
def database(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"pragma journal_mode = {mode}")
        connection.execute("create table if not exists claims (text, label)")
        yield connection


def fill(connection: sqlite3.Connection, start: int = 0) -> None:
    values = [(ROW.format(i), "true") for i in range(start, start + N)]
    connection.execute("begin")
    connection.executemany("insert into claims values (?, ?)", values)
    connection.execute("commit")


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "wal"])
def test_a_database_that_is_open_elsewhere_is_read_and_left_as_it_is(
    tmp_path: Path, mode: str
) -> None:
    path = tmp_path / "a.sqlite"
    with database(path, mode) as connection:
        fill(connection)
        before = files(tmp_path)
        assert len(rows(path)) == N
        assert files(tmp_path) == before
    before = files(tmp_path)
    assert len(rows(path)) == N
    assert files(tmp_path) == before


@pytest.mark.parametrize("mode", ["delete", "persist", "wal"])
def test_what_is_not_committed_is_not_read(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.sqlite"
    with database(path, mode) as connection:
        fill(connection)
        connection.execute("pragma cache_size = 1")  # spills the change into the file
        connection.execute("begin immediate")
        connection.execute("update claims set text = 'half of a change ' || text || text")
        before = files(tmp_path)
        assert rows(path) == [ROW.format(i) for i in range(N)]
        assert files(tmp_path) == before
        connection.execute("rollback")


KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("pragma cache_size = 1")
if sys.argv[2] == "wal":
    connection.execute("insert into claims values ('one more', 'true')")
connection.execute("begin immediate")
connection.execute("update claims set text = 'half of a change ' || text || text")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_change_that_was_killed_is_not_read_and_left_to_its_program(
    tmp_path: Path, mode: str
) -> None:
    path = tmp_path / "a.sqlite"
    with database(path, mode) as connection:
        fill(connection)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), mode], check=False)
    assert killed.returncode == -signal.SIGKILL
    (tmp_path / "a.sqlite-shm").unlink(missing_ok=True)  # as a copy of the folder has it
    before = files(tmp_path)
    assert len(before) == 2
    more = ["one more"] if mode == "wal" else []
    assert rows(path) == [*(ROW.format(i) for i in range(N)), *more]
    assert files(tmp_path) == before


def test_the_log_of_a_database_is_no_file_of_its_own(tmp_path: Path) -> None:
    with database(tmp_path / "a.sqlite", "wal") as connection:
        fill(connection)
        assert len(files(tmp_path)) == 3
        with Bundle.open(tmp_path) as bundle:
            assert bundle.names() == ["a.sqlite/claims"]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_folder_that_cannot_be_written_to(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "data" / "a.sqlite"
    path.parent.mkdir()
    with database(path, mode) as connection:
        fill(connection)
        connection.execute("insert into claims values ('one more', 'true')")
        path.parent.chmod(0o500)
        try:
            assert len(rows(path)) == N + 1
        finally:
            path.parent.chmod(0o700)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_that_is_being_written_is_whole_or_refused(tmp_path: Path, mode: str) -> None:
    """Every commit adds N rows, so that a part of a commit would show."""
    path = tmp_path / "a.sqlite"
    with database(path, mode) as connection:
        fill(connection)
    done = threading.Event()

    def write() -> None:
        with database(path, mode) as connection:
            connection.execute("pragma cache_size = 1")
            for at in range(1, 400):
                if done.is_set():
                    return
                fill(connection, at * N)
                time.sleep(0.002)

    writer = threading.Thread(target=write)
    writer.start()
    counts, refused = [], []
    try:
        for _ in range(30):
            try:
                counts.append(len(rows(path)))
            except UnreadableFile as error:
                refused.append(str(error))
    finally:
        done.set()
        writer.join()
    assert all(count % N == 0 for count in counts), counts
    assert all("is being written" in words for words in refused), refused
    assert len(rows(path)) % N == 0
