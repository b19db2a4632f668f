"""Checkpoints: after each stage its result is put beside the output, so that a killed run goes on where it stopped.

A checkpoint counts only when its folder is whole (written beside and renamed). They stand under a key made of
everything that decides the result, so a changed input, recipe, seed or version never meets an old one.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.atomic import atomic_folder
from claimlab.core.dataset import sha256_file, write_parquet

STATE = "state.json"
RECORDS = "records"
DONE = "done"


@dataclass(frozen=True)
class State:
    """Everything that the stages so far have made: the records, the side tables, and a row for each stage."""

    records: pl.DataFrame
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    stages: list[dict[str, Any]] = field(default_factory=list)


class Checkpoints:
    """The checkpoints of one run under `folder`."""

    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        self.root = folder
        self.folder = folder / digest[:32]

    def last(self, number: int) -> State | None:
        """The state after the latest of `number` stages that was finished; null when none was."""
        for n in range(number, 0, -1):
            place = self._place(n)
            if (place / STATE).is_file():
                stages = json.loads((place / STATE).read_text(encoding="utf-8"))
                tables = {p.stem: pl.read_parquet(p) for p in sorted(place.glob("*.parquet"))}
                return State(tables.pop(RECORDS), tables, stages)
        return None

    def save(self, state: State) -> None:
        """Keep the state after its last stage; the one before it is no longer needed."""
        number = len(state.stages)
        with atomic_folder(self._place(number)) as building:
            write_parquet(state.records, building / f"{RECORDS}.parquet")
            for name, table in state.tables.items():
                write_parquet(table, building / f"{name}.parquet")
            (building / STATE).write_text(json.dumps(state.stages, ensure_ascii=False), encoding="utf-8")
        shutil.rmtree(self._place(number - 1), ignore_errors=True)

    def finishing(self, manifest: Path) -> None:
        """Note the manifest that is about to become the output: see `finished`."""
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / DONE).write_text(sha256_file(manifest), encoding="utf-8")

    def finished(self, manifest: Path) -> bool:
        """Whether a run was killed in the moment between putting its output in place and clearing up."""
        note = self.root / DONE
        return (
            self.folder.is_dir() and note.is_file() and manifest.is_file() and note.read_text() == sha256_file(manifest)
        )

    def clear(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def _place(self, number: int) -> Path:
        return self.folder / f"{number:03d}"
