"""What a run has finished, record by record, so that a stopped run goes on where it stopped.

One line of JSON per record, in a hidden file beside the output, headed by a fingerprint of input and settings: a run
with other ones starts afresh. Failed records are not taken up, so they are tried again. The recordings of calls
(claimlab.search.cache, claimlab.llm.cache) are what keeps a paid call from being repeated; this saves the rest.
"""

from __future__ import annotations

import hashlib
import json
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from claimlab.enrich.flow import Enriched


class Journal:
    def __init__(self, output: Path, fingerprint: dict[str, Any]) -> None:
        self.path = output.parent / f".{output.name}.enriching.jsonl"
        self._mark = hashlib.sha256(json.dumps(fingerprint, sort_keys=True, default=str).encode()).hexdigest()
        self._file: TextIOWrapper | None = None

    def finished(self) -> dict[str, Enriched]:
        """The records that a stopped run of the same kind has finished; opens the file for more."""
        kept = self._read()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("w", encoding="utf-8")
        self._write({"run": self._mark})
        for done in kept.values():
            self.add(done)
        return kept

    def add(self, done: Enriched) -> None:
        self._write(done.as_json())

    def close(self, *, complete: bool) -> None:
        """Keep the file for the next run, or remove it when this one is complete."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if complete:
            self.path.unlink(missing_ok=True)

    def _write(self, value: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(value, default=str) + "\n")
            self._file.flush()

    def _read(self) -> dict[str, Enriched]:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return {}
        if not lines or lines[0] != json.dumps({"run": self._mark}):
            return {}
        kept = {}
        for line in lines[1:]:
            try:
                done = Enriched.from_json(json.loads(line))
            except (ValueError, TypeError):
                continue  # the line that was being written when the run was killed
            if done.outcome != "failed":
                kept[done.record_id] = done
        return kept
