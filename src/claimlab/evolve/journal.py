"""Which claims have lived to their end, so that a stopped run goes on where it stopped.

One line of JSON per claim, in a hidden file beside the output, headed by a fingerprint of input and settings: a run
with other ones starts afresh. A line counts only when it is whole; the half line of a killed run is cut off. The calls
of models are kept in the model's cache, so an unfinished claim repeats none that was paid for.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from claimlab.evolve.hop import Life


class Journal:
    def __init__(self, output: Path, fingerprint: dict[str, Any]) -> None:
        self.path = output.parent / f".{output.name}.evolving.jsonl"
        mark = hashlib.sha256(json.dumps(fingerprint, sort_keys=True, default=str).encode()).hexdigest()
        self._head = json.dumps({"run": mark}).encode() + b"\n"
        self._file: int | None = None

    def open(self) -> dict[str, Life]:
        """The lives that a stopped run of the same kind has finished; more may then be added."""
        kept, length = self._read()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.ftruncate(self._file, length)
        if length == 0:
            os.write(self._file, self._head)
        return kept

    def add(self, life: Life) -> None:
        if self._file is not None:
            line = json.dumps(life.as_json(), ensure_ascii=False).encode() + b"\n"
            while line:  # a full disk may take a part; the rest raises
                line = line[os.write(self._file, line) :]

    def close(self, *, complete: bool) -> None:
        """Keep the file for the next run, or remove it when this one is complete."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if complete:
            self.path.unlink(missing_ok=True)

    def _read(self) -> tuple[dict[str, Life], int]:
        """The whole lines of this very run, and how many bytes they take."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return {}, 0
        if not data.startswith(self._head):
            return {}, 0
        kept, length = {}, len(self._head)
        for line in data[length:].splitlines(keepends=True):
            try:
                life = Life.from_json(json.loads(line))
            except (ValueError, TypeError, KeyError):
                break  # the line that was being written when the run was killed
            if not line.endswith(b"\n"):
                break
            kept[life.key] = life
            length += len(line)
        return kept, length
