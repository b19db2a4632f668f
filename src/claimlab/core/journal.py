"""The finished shards of a run: the one way in which a run that was stopped or killed goes on where
it was.

A shard is a JSON file, or a folder with tables, that is put in place in one step: if it is there,
it is whole. Shards lie under a key made of everything that decides the result (input, parameters,
seed, version), so that a run with another seed or an edited input never meets them.

It is not a stage of the engine (`core/engine/stage.py`) with one worker. What is kept here is made
inside the run: by questions under way at the same time over one open connection, of which the
failed ones are asked again, or by steps of which each replaces the one before. A stage has
functions with a name, called in any process on plain JSON, and seals and hashes what they wrote, as
others may write into its folder too: nine times the work for a shard.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from claimlab.core.atomic import atomic_folder, quick_text
from claimlab.core.digest import digest_json, write_parquet
from claimlab.core.tables import read_parquet
from claimlab.core.types import Json

_STATE = "state.json"


class Journal:
    """`folder` is null for a run that writes nothing: then nothing is kept, and nothing is ever
    found.
    """

    def __init__(self, folder: Path | None, key: Mapping[str, Json]) -> None:
        self.key = digest_json(key)
        self.folder = None if folder is None else folder / self.key[:32]

    def read(self, shard: str) -> Json:
        """What was written for `shard`; null when it is not finished."""
        file = self._place(f"{shard}.json")
        try:
            return None if file is None else json.loads(file.read_bytes())
        except (OSError, ValueError):
            return None  # absent, or emptied by a loss of power: the shard is done again

    def write(self, shard: str, value: Json) -> None:
        """Mark `shard` as finished, with its result. Not forced to the disk: a killed process loses
        nothing, and after a loss of power an unreadable shard is done again."""
        file = self._place(f"{shard}.json")
        if file is None:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        quick_text(file, json.dumps(value, ensure_ascii=False, default=str))

    def read_tables(self, shard: str) -> tuple[Json, dict[str, pl.DataFrame]] | None:
        """The value and the tables of a finished shard; null when it is not finished."""
        place = self._place(shard)
        if place is None or not (place / _STATE).is_file():
            return None
        value = json.loads((place / _STATE).read_bytes())
        return value, {file.stem: read_parquet(file) for file in sorted(place.glob("*.parquet"))}

    def write_tables(self, shard: str, value: Json, tables: Mapping[str, pl.DataFrame]) -> None:
        place = self._place(shard)
        if place is None:
            return
        with atomic_folder(place) as building:
            for name, table in tables.items():
                write_parquet(table, building / f"{name}.parquet")
            (building / _STATE).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")

    def forget(self, shard: str) -> None:
        """Remove a shard that a later one replaces."""
        place = self._place(shard)
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)

    def place(self, name: str) -> Path | None:
        """A folder for work that keeps its own files, under the same key; null where nothing is
        kept.
        """
        place = self._place(name)
        if place is not None:
            place.mkdir(parents=True, exist_ok=True)
        return place

    def drop_empty(self) -> None:
        """Remove the folders of a run that ended before anything was kept."""
        if self.folder is None or not self.folder.is_dir():
            return
        for place in (*self.folder.iterdir(), self.folder):
            with contextlib.suppress(OSError):  # a file, or a folder with something in it
                place.rmdir()

    def _place(self, name: str) -> Path | None:
        return None if self.folder is None else self.folder / name
