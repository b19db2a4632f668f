"""Databases that a stranger made: opening one deletes nothing, never waits, and takes no more
memory or time than its size explains.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimlab.core.bounds import VARIABLE
from claimlab.core.errors import UnreadableFile
from claimlab.files.bundle import Bundle
from claimlab.files.layout import ReadOptions
from claimlab.files.read import read_table

PAGE, ROWS = 512, 40
JOURNAL = bytes.fromhex("d9d505f920a163d7")


@contextlib.contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """A database with a table of claims, to be made hostile."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"pragma page_size = {PAGE}")
        connection.execute("create table claims (text, label)")
        values = [(f"Claim {number} about the old bridge", "true") for number in range(ROWS)]
        connection.executemany("insert into claims values (?, ?)", values)
        connection.commit()
        yield connection
        connection.commit()


def tables(path: Path) -> list[str]:
    with Bundle.open(path) as bundle:
        return bundle.names()


def rows(path: Path) -> int:
    with Bundle.open(path) as bundle:
        return read_table(bundle, bundle.names()[0], ReadOptions()).frame.height


def journal(database: Path, victim: Path, *, ended: bool = False) -> None:
    """A journal of a change of several databases, the name of whose own journal is `victim`."""
    name, pages = bytes(victim), database.stat().st_size // PAGE
    head = JOURNAL + struct.pack(">IIIII", 0, 7, pages, PAGE, PAGE)
    lock = struct.pack(">I", (1 << 30) // PAGE + 1)
    tail = lock + name + struct.pack(">II", len(name), sum(name)) + JOURNAL
    whole = bytes(PAGE) if ended else head.ljust(PAGE, b"\0")
    database.with_name(f"{database.name}-journal").write_bytes(whole + tail)


def test_undoing_a_change_deletes_no_file_that_a_journal_names(tmp_path: Path) -> None:
    path, victim = tmp_path / "a.sqlite", tmp_path / "notes.txt"
    victim.write_text("My notes\n")
    with database(path):
        pass
    journal(path, victim)
    with pytest.raises(UnreadableFile, match="its journal names a file that would be deleted"):
        rows(path)
    assert victim.is_file()
    journal(path, victim, ended=True)  # as a journal that is kept after the change looks
    assert rows(path) == ROWS
    assert victim.is_file()


READ = """
import sys
from pathlib import Path
from claimlab.files.sqlite import rows_in
for name in sys.argv[1:]:
    print(*rows_in(Path(name), "claims", name)[0])
"""


def test_a_log_that_is_a_pipe_or_a_link_is_not_opened(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("pipe", "link")]
    for path in paths:
        with database(path):
            pass
    for log in ("-wal", "-journal"):
        os.mkfifo(f"{paths[0]}{log}")
        Path(f"{paths[1]}{log}").symlink_to("/dev/zero")
    words = [sys.executable, "-c", READ, *map(str, paths)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "text label\n" * 2


def test_a_default_in_every_row_is_no_way_to_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with database(path) as connection:
        values = [("true",)] * 3_000
        connection.executemany("insert into claims (label) values (?)", values)
        connection.execute(f"alter table claims add column more default '{'x' * 200_000}'")
    assert path.stat().st_size < 1 << 20
    with pytest.raises(UnreadableFile, match=rf"looks like a bomb.*{VARIABLE}=1"):
        rows(path)


def interior(child: int, cells: int) -> bytes:
    """A page of a table that holds nothing but pointers to one other page."""
    cell = struct.pack(">IB", child, 1)
    start = PAGE - len(cell) * cells
    head = struct.pack(">BHHHBI", 5, 0, cells, start, 0, child)
    pointers = struct.pack(f">{cells}H", *(start + len(cell) * at for at in range(cells)))
    return (head + pointers).ljust(start, b"\0") + cell * cells


def test_pages_that_point_to_one_page_again_and_again_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with database(path) as connection:
        (root,) = connection.execute(
            "select rootpage from sqlite_master where name = 'claims'"
        ).fetchone()
    data = bytearray(path.read_bytes())
    pages = len(data) // PAGE
    for level in range(8):  # 60 to the power of 8 times the rows of the last page of today
        place, child = (root if level == 0 else pages + level), pages + level + 1
        data.extend(bytes(max(0, place * PAGE - len(data))))
        data[(place - 1) * PAGE : place * PAGE] = interior(pages if level == 7 else child, 60)
    data[28:32] = struct.pack(">I", len(data) // PAGE)
    path.write_bytes(data)
    with pytest.raises(UnreadableFile, match="it claims more rows than fit into it"):
        rows(path)


def test_only_plain_tables_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with database(path) as connection:
        connection.execute("create view seen as select * from claims")
        connection.execute("pragma writable_schema = on")
        row = ("table", "other", "other", 0, "create  virtual table other using fts5(text)")
        connection.execute("insert into sqlite_master values (?, ?, ?, ?, ?)", row)
    assert tables(path) == ["claims"]
    assert rows(path) == ROWS


def test_more_tables_than_can_be_asked_for_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with database(path) as connection:
        connection.execute("begin")
        for number in range(1_000):
            connection.execute(f"create table t{number} (text, label)")
    with pytest.raises(UnreadableFile, match="holds 1,001 tables; at most 1,000 are read"):
        tables(path)
