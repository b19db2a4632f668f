"""Every reply a model gave, kept under the hash of what was asked: runs resume, replay byte for byte, and cost nothing.

One SQLite file in WAL mode. A reply is committed before anyone sees it, so that what was delivered is recorded even if
the process is killed in the next instant. Several processes may share the file; the first reply to a question stays.
Only a model's own words are kept, its refusals and unusable replies among them: a failure in passing is not a reply.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from claimlab.core.errors import ClaimlabError, SchemaError, UnreadableFile
from claimlab.core.places import cache_folder
from claimlab.llm.messages import Request
from claimlab.llm.profiles import Profile
from claimlab.llm.schema import wire_schema

_VERSION = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL, made_at TEXT NOT NULL
) WITHOUT ROWID
"""


class Question(NamedTuple):
    """What was asked, as one line of JSON, and its hash."""

    key: str
    model: str
    text: str


def question(request: Request[Any], profile: Profile) -> Question:
    """Everything that shapes the reply, and nothing that does not (no URL, key, time limit or tag)."""
    schema = wire_schema(request.schema)["schema"] if request.schema is not None else None
    model = profile.chosen_model()
    asked = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "schema": schema,
        "parameters": {
            "temperature": None if request.temperature is None else float(request.temperature),
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "schema_bound": profile.schema_bound if schema is not None else None,
            "more": profile.parameters,
        },
        "attempt": request.attempt,
    }
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), allow_nan=False, default=str)
    return Question(hashlib.sha256(text.encode("ascii")).hexdigest(), model, text)


class Cache:
    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "llm.sqlite"
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, self._db.close)  # providers may share a cache, so none of them closes it
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise SchemaError(
                    f"The cache '{self.path}' was written by a newer claimlab (layout {version}).",
                    "Update claimlab, or choose another cache file.",
                )
            self._db.execute(_TABLE)
            self._db.execute(f"PRAGMA user_version={_VERSION}")
        except sqlite3.DatabaseError as error:
            raise UnreadableFile(
                f"'{self.path}' cannot be used as a cache of replies: {error}.", "Choose another file, or remove it."
            ) from None

    def get(self, asked: Question) -> dict[str, Any] | None:
        with self._lock:
            row = self._db.execute("SELECT reply FROM calls WHERE key = ?", (asked.key,)).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def put(self, asked: Question, reply: dict[str, Any]) -> dict[str, Any]:
        """Keep `reply`, and return what is kept now: the first reply stays."""
        row = (*asked, json.dumps(reply), datetime.now(UTC).isoformat(timespec="seconds"))
        try:
            with self._lock:
                new = self._db.execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?)", row).rowcount
        except sqlite3.OperationalError as error:
            raise ClaimlabError(
                f"The reply could not be kept in '{self.path}': {error}.", "Check the space left on the disk."
            ) from None
        return reply if new else self.get(asked) or reply

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM calls").fetchone()[0])
