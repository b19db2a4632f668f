"""Recorded calls: every answer is kept under the hash of its question, so that a run resumes,
replays byte for byte without network or key, and pays for no call twice.

One SQLite file in WAL mode, which several processes may share. An answer is committed before it is
used, so that what was delivered is recorded even if the process is killed in the next instant, and
the first answer stays. A failure may be recorded too, so that a replay fails where the run failed;
recording again asks again and replaces it.

The same question at the same time is asked once: the second caller waits and finds what was
recorded.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from claimlab.core.errors import ClaimlabError, ReplayMiss, SchemaError, UnreadableFile
from claimlab.core.types import Json

if TYPE_CHECKING:
    import asyncio

_VERSION = 2
_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, final INTEGER NOT NULL,
    made_at TEXT NOT NULL
) WITHOUT ROWID
"""  # noqa: E501
_PUT = """
INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
SET answer = excluded.answer, final = excluded.final, made_at = excluded.made_at WHERE calls.final = 0
"""  # noqa: E501
_NOT_KEPT = "null"  # in place of a question whose key alone is known


@dataclass(frozen=True)
class CallQuestion:
    """Who is asked (`kind`) and everything that shapes the answer, JSON-safe: no address, key, time
    limit or tag.

    `label` is what to call it in a message; it is not part of the hash.
    """

    kind: str
    content: Mapping[str, Json]
    label: str = ""

    @cached_property
    def text(self) -> str:
        return canonical(self.content)

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(f"[{json.dumps(self.kind)},{self.text}]".encode("ascii")).hexdigest()


class CallReply(NamedTuple):
    """An answer as JSON. `final` is false for a failure: recording again asks again."""

    answer: Json
    final: bool = True


class Recording:
    """The file. With `replay` it must exist, and a question that it does not hold is an error."""

    def __init__(self, path: str | Path, *, replay: bool = False) -> None:
        self.path = Path(path)
        self.replay = replay
        self._lock = threading.Lock()
        self._once = Once()
        if replay and not self.path.is_file():
            raise UnreadableFile(
                f"There is no recording '{self.path}'.", "Make one first with mode 'record'."
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=30, isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, self._db.close)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._prepare()
        except sqlite3.DatabaseError as error:
            raise UnreadableFile(
                f"'{self.path}' cannot be used as a recording of calls: {error}.",
                "Choose another file, or remove it.",
            ) from None

    def _prepare(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            whose = "a newer claimlab" if version > _VERSION else "claimlab 0.1"
            raise SchemaError(
                f"The recording '{self.path}' was made by {whose} (layout {version}).",
                "Use that version of claimlab, or choose another `cache` folder.",
            )
        self._db.execute(_TABLE)
        self._db.execute(f"PRAGMA user_version={_VERSION}")

    async def answer(
        self, question: CallQuestion, ask: Callable[[], Awaitable[CallReply | None]]
    ) -> tuple[Json | None, bool]:
        """What is recorded for `question`, and whether it was before; `ask` makes the call where it
        was not.

        `ask` returns null for an answer that is not to be kept, and so does this. What is returned
        is read back from the recording, so that the first run and its replay see the same bytes.
        """
        if self.replay:
            return self.require(question), True
        async with self._once.turn(
            question.key
        ):  # datasets repeat themselves: a call is paid for once
            record = self.get(question)
            if record is not None and record.final:
                return record.answer, True
            fresh = await ask()
            return None if fresh is None else self.put(question, fresh), False

    def get(self, question: CallQuestion) -> CallReply | None:
        with self._lock:
            row = self._db.execute(
                "SELECT answer, final FROM calls WHERE key = ?", (question.key,)
            ).fetchone()
        return None if row is None else CallReply(json.loads(row[0]), bool(row[1]))

    def require(self, question: CallQuestion) -> Json:
        """The recorded answer; a call that was never made is named."""
        record = self.get(question)
        if record is None:
            raise ReplayMiss(
                f"'{self.path}' holds no answer of {question.kind} to"
                f" {question.label or question.text} (key {question.key[:12]}).",
                "Record it first with mode 'record', and with the same data and settings.",
            )
        return record.answer

    def put(self, question: CallQuestion, fresh: CallReply) -> Json:
        """Keep `fresh`, and return what is kept now: the first final answer stays."""
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        text = canonical(fresh.answer)
        row = (question.key, question.kind, question.text, text, int(fresh.final), made_at)
        try:
            with self._lock:
                new = self._db.execute(_PUT, row).rowcount
        except sqlite3.OperationalError as error:
            raise ClaimlabError(
                f"The answer could not be recorded in '{self.path}': {error}.",
                "Check the space left on the disk.",
            ) from None
        return json.loads(text) if new else self.require(question)

    def take(self, kind: str, answers: Mapping[str, Json]) -> None:
        """Keep answers that were recorded elsewhere, by the keys of their questions, which are not
        known here; the first answer stays.
        """
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(key, kind, _NOT_KEPT, canonical(a), 1, made_at) for key, a in answers.items()]
        with self._lock:
            self._db.execute("BEGIN")
            self._db.executemany(_PUT, rows)
            self._db.execute("COMMIT")

    def recorded(self, kind: str, most: int = 1_000) -> list[tuple[Json, Json]]:
        """Questions of a kind with their answers, at most `most`, in the order of their keys: at
        random.
        """
        rows = (
            "SELECT question, answer FROM calls WHERE kind = ? AND final = 1 AND question != ?"
            " ORDER BY key LIMIT ?"
        )
        with self._lock:
            return [
                (json.loads(q), json.loads(a))
                for q, a in self._db.execute(rows, (kind, _NOT_KEPT, most)).fetchall()
            ]

    def counts(self) -> dict[str, int]:
        """Calls per kind."""
        with self._lock:
            return dict(
                self._db.execute(
                    "SELECT kind, count(*) FROM calls GROUP BY kind ORDER BY kind"
                ).fetchall()
            )

    def __len__(self) -> int:
        return sum(self.counts().values())

    def close(self) -> None:
        with self._lock:
            self._db.close()


def canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=str)


class Once:
    """`async with once.turn(key)`: one caller at a time for each key. Locks live only as long as a
    caller waits.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()

    def turn(self, key: str) -> asyncio.Lock:
        import asyncio

        loop = id(asyncio.get_running_loop())  # a lock belongs to the loop that it is waited for in
        return self._locks.setdefault((loop, key), asyncio.Lock())
