"""Where decisions are kept: one SQLite file beside the review, or a schema in a PostgreSQL
database. `migrations/` makes the tables; a test keeps the two the same.

Every write is one transaction, on disk when it returns. SQLite lets one writer in at a time; they
queue at a lock of our own (`review.sqlite.turn`), since SQLite's own waiting is not fair and lets
some wait for seconds. They wait for the disk together, after their turn (`_Disk`): one flush serves
all who committed before it began. PostgreSQL does the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from claimlab.core.errors import MissingExtra, SchemaError, UsageError
from claimlab.core.grants import Wanted, grant, host_of

try:
    import sqlalchemy as sa
except ImportError:
    raise MissingExtra("A review", "web") from None

__all__ = ["Json", "assignment", "decision", "event", "item", "metadata", "person", "sa"]
Connection = sa.Connection
STORE_VARIABLE = "CLAIMLAB_REVIEW_STORE"
POSTGRES = ("postgresql://", "postgres://")
WAIT_SECONDS = 60  # seconds that a write waits for another process's
# NORMAL: SQLite flushes its log before it moves pages into the file, and leaves flushing at a
# commit to us.
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=NORMAL",
    f"busy_timeout={WAIT_SECONDS * 1000}",
    "foreign_keys=ON",
)


class Json(sa.types.TypeDecorator[Any]):
    """Any JSON value as ASCII text: PostgreSQL takes no NUL in a text, and dataset text may hold
    one.
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:  # noqa: ARG002
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Any) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(value)


StoredRow: TypeAlias = sa.Row[Any]
metadata = sa.MetaData()

person = sa.Table(
    "person",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(100), nullable=False, unique=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("token_hash", sa.String(64), unique=True),
    sa.Column("created", sa.DateTime, nullable=False),
)
item = sa.Table(
    "item",
    metadata,
    sa.Column("id", sa.String(20), primary_key=True),
    sa.Column("position", sa.Float, nullable=False),
    sa.Column("record_id", Json),
    sa.Column("other_id", Json),
    sa.Column("payload", Json, nullable=False),
    sa.Column("gold", Json),
    sa.Column("attention", sa.Boolean, nullable=False),
    sa.Column("uncertainty", sa.Float),
    sa.Column("batch", sa.Integer),
    sa.Column("revealed", sa.DateTime),  # when its votes were shown to those who gave them
)
assignment = sa.Table(
    "assignment",
    metadata,
    sa.Column("item", sa.ForeignKey("item.id"), primary_key=True),
    sa.Column("person", sa.ForeignKey("person.id"), primary_key=True),
    sa.Column("position", sa.Float, nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("shown", sa.DateTime),  # what was shown stays with its person
    sa.Column(
        "moved", sa.DateTime
    ),  # when the status changed: what was skipped first comes back first
    sa.Index("assignment_queue", "person", "status", "position"),
)
decision = sa.Table(
    "decision",
    metadata,
    sa.Column("key", sa.String(36), primary_key=True),
    sa.Column("item", sa.ForeignKey("item.id"), nullable=False),
    sa.Column("person", sa.ForeignKey("person.id"), nullable=False),
    sa.Column("round", sa.String(10), nullable=False),
    sa.Column("value", Json, nullable=False),
    sa.Column("comment", Json),
    sa.Column("seconds", sa.Float),
    sa.Column("at", sa.DateTime, nullable=False),
    sa.Column("superseded", sa.Boolean, nullable=False),
    sa.Index("decision_item", "item"),
    sa.Index("decision_person", "person"),
)
# A person has one valid decision on an item in a round, whatever happens at the same time.
sa.Index(
    "decision_valid",
    decision.c.item,
    decision.c.person,
    decision.c.round,
    unique=True,
    sqlite_where=decision.c.superseded == sa.false(),
    postgresql_where=decision.c.superseded == sa.false(),
)
event = sa.Table(
    "event",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", sa.DateTime, nullable=False),
    sa.Column("person", sa.ForeignKey("person.id")),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("item", sa.ForeignKey("item.id")),
    sa.Column("detail", Json, nullable=False),
    sa.Index("event_person", "person", "id"),
    sa.Index("event_item", "item", "id"),
)


class ReviewStore:
    """An open store. `read` and `write` give a connection; `write` commits at the end, or nothing
    at all.
    """

    def __init__(self, engine: sa.Engine, schema: str | None = None) -> None:
        self._engine, self._schema = engine, schema
        self._lock = threading.Lock()
        file = engine.url.database if engine.dialect.name == "sqlite" else None
        self._turns = None if file is None else Path(f"{file}.turn")
        self._disk = None if file is None else _Disk(Path(f"{file}-wal"))

    @classmethod
    def open(cls, where: str | Path, schema: str = "claimlab_review") -> ReviewStore:
        """A path, or a `postgresql://` URL with the `schema` that the review has there. The tables
        are made, or brought to this version's."""
        if "://" in str(where):
            check_url(str(where))
            store = cls(_postgres(str(where), schema), schema)
        else:
            _refuse_foreign(Path(where))
            store = cls(_sqlite(Path(where)))
        store._migrate()
        return store

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """One transaction. What is not `durable` survives the death of this process, but perhaps
        not that of the machine: SQLite then need not wait for the disk."""
        with (
            self._turn(),
            self._engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection
        if durable and self._disk is not None:
            self._disk.flush()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for the other writers, of this process and of others. PostgreSQL needs none of
        this.
        """
        if self._turns is None:
            yield
            return
        with self._lock, self._turns.open("ab") as file:
            if sys.platform != "win32":
                import fcntl

                # Let go when the file is closed, also by a process that is killed.
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def close(self) -> None:
        self._engine.dispose()

    def _migrate(self) -> None:
        try:
            with self.write() as connection:
                if self._schema is not None:
                    # One process at a time makes the tables; the number is any that claimlab alone
                    # uses.
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(7220151)"))
                    connection.execute(sa.schema.CreateSchema(self._schema, if_not_exists=True))
                _upgrade(connection)
        except sa.exc.DatabaseError as error:
            place = without_password(str(self._engine.url))
            reason = str(error.orig).strip().splitlines()[0]
            todo = (
                "Check that it is the store of a review, that the server runs and that the password"
                " is set."
            )
            raise SchemaError(f"The store '{place}' cannot be used: {reason}.", todo) from None


class _Disk:
    """SQLite's write-ahead log, brought to the disk for several commits at once."""

    def __init__(self, log: Path) -> None:
        self._log, self._turn, self._count = log, threading.Lock(), threading.Lock()
        self._asked = self._done = 0
        self._folder_of: int | None = None  # the log whose name is on the disk, too

    def flush(self) -> None:
        """Return when everything that was committed before this call is on the disk."""
        with self._count:
            self._asked += 1
            ticket = self._asked
        with self._turn:
            if self._done >= ticket:
                return  # another thread flushed while we waited, after our commit
            with self._count:
                covers = self._asked
            self._sync()
            self._done = covers

    def _sync(self) -> None:
        try:
            file = os.open(self._log, os.O_RDWR)
        except FileNotFoundError:
            return  # SQLite has moved everything into the file, flushed it and taken the log away
        try:
            os.fsync(file)
            inode = os.fstat(file).st_ino
        finally:
            os.close(file)
        if inode != self._folder_of and sys.platform != "win32":
            folder = os.open(self._log.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            self._folder_of = inode


def check_url(url: str) -> None:
    """A `UsageError` where `url` is not of PostgreSQL."""
    if not url.startswith(POSTGRES):
        raise UsageError(
            f"'{without_password(url)}' is not a store.",
            "Give a URL such as postgresql://USER@HOST/NAME.",
        )


def without_password(url: str) -> str:
    """`url` without its password, for messages."""
    if "://" not in url:
        return url
    parts = urlsplit(url)
    if parts.password is None:
        return url
    _, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{parts.username or ''}@{host}").geturl()


def _refuse_foreign(file: Path) -> None:
    """A database of another program must stay as it is, to the byte: it is looked at without being
    opened to write.
    """
    if not file.is_file() or file.stat().st_size == 0:
        return
    try:
        address = f"{file.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            query = "select name from sqlite_master where type = 'table'"
            tables = {name for (name,) in connection.execute(query)}
    except sqlite3.Error as error:
        raise SchemaError(
            f"The store '{file}' cannot be used: {error}.", "Make the review again."
        ) from None
    if tables and "alembic_version" not in tables:
        raise SchemaError(
            f"'{file}' is the database of another program.", "Name the store of a review."
        )


def _sqlite(file: Path) -> sa.Engine:
    url = sa.URL.create("sqlite", database=str(file))
    engine = sa.create_engine(
        url, pool_size=10, max_overflow=90, connect_args={"check_same_thread": False}
    )

    @sa.event.listens_for(engine, "connect")
    def _set_up(raw: Any, _: Any) -> None:
        raw.isolation_level = (
            None  # we begin transactions ourselves: Python's module begins them too late
        )
        for pragma in _PRAGMAS:
            raw.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes") else "BEGIN")

    return engine


def _postgres(url: str, schema: str) -> sa.Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtra("A store in PostgreSQL", "postgres") from None
    scheme, rest = url.split("://", 1)
    grant(Wanted("host", host_of(url), "a database that gets the decisions"))
    return sa.create_engine(
        f"postgresql+psycopg://{rest}" if "+" not in scheme else url,
        connect_args={"options": f"-csearch_path={schema}"},
        pool_size=10,
        max_overflow=40,
        pool_pre_ping=True,
    )


def _upgrade(connection: Connection) -> None:
    """Bring the tables to the newest revision; nothing is done where they are."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(files("claimlab.review") / "migrations"))
    revisions = {script.revision for script in scripts.walk_revisions()}

    def steps(revision: Any, _: Any) -> Any:
        now = revision[0] if isinstance(revision, tuple) and revision else revision or None
        if now is not None and now not in revisions:
            raise SchemaError(
                "The store was made by a newer claimlab.", "Upgrade with: pip install -U claimlab"
            )
        return scripts._upgrade_revs("head", revision)

    with EnvironmentContext(Config(), scripts, fn=steps, destination_rev="head") as environment:
        environment.configure(
            connection=connection, target_metadata=metadata, transactional_ddl=False
        )
        environment.run_migrations()
