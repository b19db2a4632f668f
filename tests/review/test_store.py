"""The store: made by migrations, the same in SQLite and PostgreSQL, and refused where it is not
one.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from claimlab.core.errors import SchemaError, UsageError
from claimlab.review.store import Json, ReviewStore, metadata, without_password


def test_the_migrations_make_the_tables_of_this_version(tmp_path: Path) -> None:
    store = ReviewStore.open(tmp_path / "s.sqlite")
    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": _same_type})
        assert compare_metadata(context, metadata) == []
        (where,) = connection.execute(
            sa.text("SELECT sql FROM sqlite_master WHERE name = 'decision_valid'")
        ).scalars()
    assert "UNIQUE" in where
    assert "WHERE superseded = 0" in where


def _same_type(
    _: object, __: object, ___: object, found: object, wanted: sa.types.TypeEngine[object]
) -> bool:
    return not isinstance(found, sa.Text if isinstance(wanted, Json) else type(wanted).__mro__[1])


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    ReviewStore.open(tmp_path / "s.sqlite").close()
    before = (tmp_path / "s.sqlite").read_bytes()
    ReviewStore.open(tmp_path / "s.sqlite").close()
    assert (tmp_path / "s.sqlite").read_bytes() == before


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    store = ReviewStore.open(tmp_path / "s.sqlite")
    event = metadata.tables["event"]
    with pytest.raises(ZeroDivisionError), store.write() as connection:
        connection.execute(event.insert().values(at=sa.func.now(), kind="x", detail={}))
        raise ZeroDivisionError
    with store.read() as connection:
        assert connection.execute(event.select()).all() == []


def test_what_is_not_a_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("This is no database. " * 100, encoding="utf-8")
    with pytest.raises(SchemaError, match="cannot be used"):
        ReviewStore.open(tmp_path / "text")
    with pytest.raises(UsageError, match="not a store"):
        ReviewStore.open("mysql://u:secret@h/d")


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    store = ReviewStore.open(tmp_path / "s.sqlite")
    with store.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    with pytest.raises(SchemaError, match="newer claimlab"):
        ReviewStore.open(tmp_path / "s.sqlite")


def test_a_password_is_not_shown() -> None:
    assert without_password("postgresql://u:secret@h:5432/d?x=1") == "postgresql://u@h:5432/d?x=1"
    assert without_password("review.sqlite") == "review.sqlite"


def test_a_write_is_on_the_disk_when_it_returns_and_writers_wait_for_it_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, event = ReviewStore.open(tmp_path / "s.sqlite"), metadata.tables["event"]
    flushed: list[int] = []
    sync = os.fsync

    def counted(file: int) -> None:
        flushed.append(os.fstat(file).st_ino)
        time.sleep(0.05)
        sync(file)

    def write(durable: bool = True) -> None:
        with store.write(durable=durable) as connection:
            connection.execute(event.insert().values(at=sa.func.now(), kind="x", detail={}))

    write()  # the name of the log is on the disk from here on
    monkeypatch.setattr(os, "fsync", counted)
    log = (tmp_path / "s.sqlite-wal").stat().st_ino
    write(durable=False)
    assert flushed == []
    write()
    assert flushed == [log]
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: write(), range(20)))
    assert 2 <= len(flushed) < 15
    with store.read() as connection:
        assert len(connection.execute(event.select()).all()) == 23
