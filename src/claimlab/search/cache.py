"""Recorded calls: every answer kept under the hash of its question, so that a run replays byte for byte, offline.

One SQLite file, safe for several processes. A question is who was asked, with what settings, for what; the answer is
kept before anyone sees it, and the first answer stays. No key is ever part of a question or an answer.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from pathlib import Path
from typing import Any, Literal, get_args

from claimlab.core.errors import ClaimlabError, ReplayMiss, SchemaError, UnreadableFile, UsageError

Mode = Literal["live", "record", "replay"]
_VERSION = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL
) WITHOUT ROWID
"""


def check_mode(mode: str) -> Mode:
    """The user's word for how calls are made, checked."""
    for known in get_args(Mode):
        if mode == known:
            return known  # type: ignore[no-any-return]
    raise UsageError(f"Calls cannot be made '{mode}'.", f"Use one of: {', '.join(get_args(Mode))}.")


class Recording:
    """The file. `kind` is what was called: a provider's name, or `page` for a snapshot."""

    def __init__(self, path: str | Path, *, must_exist: bool = False) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        if must_exist and not self.path.is_file():
            raise UnreadableFile(f"There is no recording '{self.path}'.", "Make one first, with mode 'record'.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version > _VERSION:
                raise SchemaError(
                    f"The recording '{self.path}' was made by a newer claimlab (layout {version}).",
                    "Upgrade with: pip install -U claimlab",
                )
            self._db.execute(_TABLE)
            self._db.execute(f"PRAGMA user_version={_VERSION}")
        except sqlite3.DatabaseError as error:
            raise UnreadableFile(
                f"'{self.path}' cannot be used as a recording of calls: {error}.", "Choose another file, or remove it."
            ) from None

    def get(self, kind: str, question: dict[str, Any]) -> Any:
        """What was answered, or null."""
        with self._lock:
            row = self._db.execute("SELECT answer FROM calls WHERE key = ?", (key_of(kind, question),)).fetchone()
        return None if row is None else json.loads(row[0])

    def require(self, kind: str, question: dict[str, Any]) -> Any:
        """What was answered; a call that was never made is named."""
        answer = self.get(kind, question)
        if answer is None:
            raise ReplayMiss(
                f"'{self.path}' holds no answer of {kind} to {canonical(question)}.",
                "Run once with mode 'record' and the same settings, where the network can be reached.",
            )
        return answer

    def put(self, kind: str, question: dict[str, Any], answer: Any, *, replace: bool = False) -> Any:
        """Keep `answer`, and return what is kept now: the first answer stays, unless it is to be replaced."""
        row = (key_of(kind, question), kind, canonical(question), canonical(answer))
        try:
            with self._lock:
                verb = "REPLACE" if replace else "IGNORE"
                self._db.execute(f"INSERT OR {verb} INTO calls VALUES (?, ?, ?, ?)", row)
        except sqlite3.OperationalError as error:
            raise ClaimlabError(
                f"The answer could not be kept in '{self.path}': {error}.", "Check the space left on the disk."
            ) from None
        return self.get(kind, question)

    def counts(self) -> dict[str, int]:
        """Calls per kind."""
        with self._lock:
            return dict(self._db.execute("SELECT kind, count(*) FROM calls GROUP BY kind ORDER BY kind").fetchall())

    def close(self) -> None:
        with self._lock:
            self._db.close()


def key_of(kind: str, question: dict[str, Any]) -> str:
    return hashlib.sha256(canonical([kind, question]).encode("ascii")).hexdigest()


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
