"""`claimlab.json`, which every exported folder has, so that it can be traced, checked and read
back.

It holds the manifest of the dataset that was exported (name, licence, notes, lineage), the export
itself as a step, the sha256 of every file, and whatever the format noted for its own reader. Like
`dataset.json`, it holds no time of day and no path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from claimlab.core.dataset import Dataset, Lineage, Manifest
from claimlab.core.digest import digest_file
from claimlab.core.errors import SchemaError
from claimlab.core.types import JsonObject

FILE = "claimlab.json"
VERSION = 1


class Marker(BaseModel):
    model_config = ConfigDict(extra="forbid")

    export_version: int = VERSION
    format: str
    dataset: Manifest
    export: Lineage
    facts: JsonObject = {}
    files: dict[str, str] = {}

    def file(self, folder: Path, name: str) -> Path:
        """The path of an exported file: only those that the marker lists, so that no note of it
        leads elsewhere.
        """
        if name not in self.files:
            raise SchemaError(f"'{folder}' has no file '{name}'.", "Export the dataset again.")
        return folder / name

    def fact(self, name: str) -> Any:
        """What the format noted under `name`."""
        if name not in self.facts:
            raise SchemaError(f"{FILE} does not say its '{name}'.", "Export the dataset again.")
        return self.facts[name]

    def rebuild(
        self, folder: Path, records: pl.DataFrame, tables: Mapping[str, pl.DataFrame]
    ) -> Dataset:
        """The dataset as it was before the export."""
        about = self.dataset
        return Dataset(
            name=about.name,
            records=records,
            tables=dict(tables),
            card=about.card,
            licence=about.licence,
            synthetic=about.synthetic,
            notes=list(about.notes),
            lineage=list(about.lineage),
            path=folder,
        )


def write_marker(folder: Path, marker: Marker) -> Marker:
    """Hash every file in `folder` and write the marker last."""
    paths = sorted(p for p in folder.rglob("*") if p.is_file())
    marker.files = {p.relative_to(folder).as_posix(): digest_file(p) for p in paths}
    text = json.dumps(marker.model_dump(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    (folder / FILE).write_text(text, encoding="utf-8")
    return marker


def read_marker(folder: Path, *, verify: bool = True) -> Marker:
    """The marker of an exported folder; with `verify`, only of one whose files are all as they were
    written.
    """
    file = folder / FILE
    if not file.is_file():
        raise SchemaError(
            f"'{folder}' is not a claimlab export (it has no {FILE}).",
            "Make one with claimlab export.",
        )
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        if int(raw["export_version"]) > VERSION:
            raise SchemaError(
                f"'{folder}' was exported by a newer claimlab (version {raw['export_version']} of"
                f" {FILE}).",
                "Upgrade with: pip install -U claimlab",
            )
        marker = Marker.model_validate(raw)
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise SchemaError(
            f"'{file}' cannot be read: {error}.", "Export the dataset again."
        ) from None
    outside = [
        n for n in marker.files if PurePosixPath(n).is_absolute() or ".." in PurePosixPath(n).parts
    ]
    if outside:
        raise SchemaError(
            f"'{file}' names a file outside its folder ('{outside[0]}').",
            "Do not trust this folder.",
        )
    if verify and (changed := changed_files(folder, marker)):
        raise SchemaError(
            f"In '{folder}', {', '.join(changed[:5])} is not the file that was exported.",
            "Export the dataset again; files edited by hand are read with: claimlab import",
        )
    return marker


def changed_files(folder: Path, marker: Marker) -> list[str]:
    """The files of an exported folder that are not as they were written, or gone."""
    return [
        n
        for n, h in marker.files.items()
        if not (folder / n).is_file() or digest_file(folder / n) != h
    ]
