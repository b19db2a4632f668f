"""The contract of an export format: one file in `exchange/formats/` with a module-level FORMAT.

A format writes into an empty folder that `claimlab.exchange.export` swaps into place. One that
loses nothing has a `read` next to its `write`, and a test checks that the round trip is exact.

Every exported folder has a marker, `claimlab.json`, so that it can be traced, checked and read
back. It holds the manifest of the dataset that was exported (name, licence, notes, lineage), the
export itself as a step, the sha256 of every file, and whatever the format noted for its own reader.
Like `dataset.json`, it holds no time of day and no path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from claimlab.core.dataset import Dataset, Lineage, Manifest
from claimlab.core.digest import digest_file
from claimlab.core.errors import SchemaError
from claimlab.core.grants import is_inner
from claimlab.core.progress import Progress, silent
from claimlab.core.registry import Registry
from claimlab.core.toml_file import OF_OURS, read_json
from claimlab.core.types import JsonObject

MARKER = "claimlab.json"
VERSION = 1
FORMATS: Registry[Format] = Registry(
    "export format",
    package="claimlab.exchange.formats",
    attribute="FORMAT",
    group="claimlab.formats",
)


@dataclass(frozen=True)
class FormatSettings:
    """What a user may ask of a format; `Format.accepts` names those that it knows."""

    bom: bool = False  # a byte-order mark in front, by which Excel knows UTF-8
    task: str | None = None  # what is asked of a record, in formats that ask
    audit: str | None = None  # a saved audit of the dataset: hf and croissant say what it found
    split: str | None = None  # the records that are asked about: those of "test" where there is one
    rai: str | None = None  # a TOML file with Responsible-AI fields that only authors can fill

    def chosen(self) -> JsonObject:
        """The settings that differ from their defaults, by name."""
        return {
            f.name: value for f in fields(self) if (value := getattr(self, f.name)) != f.default
        }


@dataclass
class Written:
    """The report of a format: counts, sentences where something was left out, and what `read`
    needs.
    """

    counts: JsonObject = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    facts: JsonObject = field(default_factory=dict)  # JSON-safe; `claimlab.json` keeps it


@dataclass(frozen=True)
class Road:
    """A way back from an exported folder, and what of the dataset it loses: tests hold each
    declaration to its word, in both directions, and the table in docs/export.md is made of them."""

    by: str  # the call; DIR is the exported folder
    # Columns of the records, or: records, order, side tables, name, card, licence, synthetic,
    # notes, lineage; and which part of it, where not all is lost.
    loses: Mapping[str, str] = field(default_factory=dict)


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
            raise SchemaError(f"{MARKER} does not say its '{name}'.", "Export the dataset again.")
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


class Format:
    """What a format says of itself, with the defaults that most have, and how it writes."""

    name: str
    summary: str
    accepts: frozenset[str] = frozenset()  # names of `FormatSettings`
    back: tuple[Road, ...] = ()  # none: what it writes is for others only
    records: tuple[str, ...] = ("records.*",)  # globs of the files that hold the records
    then: str = "claimlab import {} -o DIR"  # what to do with the folder, {}

    def write(
        self, dataset: Dataset, folder: Path, settings: FormatSettings, progress: Progress = silent
    ) -> Written:
        """Write `dataset` into the empty `folder`; say what was left out.

        Parameters
        ----------
        dataset : Dataset
            The dataset to export.
        folder : Path
            An empty folder.
        settings : FormatSettings
            What the user asked of the format.
        progress : Progress, default silent
            Called with what is done, for what takes long.

        Returns
        -------
        Written
            Counts, and a sentence for what was left out.
        """
        raise NotImplementedError


@runtime_checkable
class Lossless(Protocol):
    """What a format that loses nothing has besides."""

    def read(self, folder: Path, marker: Marker) -> Dataset:
        """The dataset back from an exported folder: same records, same side tables, same
        lineage.

        Parameters
        ----------
        folder : Path
            The exported folder.
        marker : Marker
            What the export noted of it, with the hash of every file.

        Returns
        -------
        Dataset
            The dataset that was exported.
        """
        ...


def write_marker(folder: Path, marker: Marker) -> Marker:
    """Hash every file in `folder` and write the marker last."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    marker.files = {path.relative_to(folder).as_posix(): digest_file(path) for path in paths}
    text = json.dumps(marker.model_dump(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    (folder / MARKER).write_text(text, encoding="utf-8")
    return marker


def read_marker(folder: Path, *, verify: bool = True) -> Marker:
    """The marker of an exported folder; with `verify`, only of one whose files are all as they were
    written.
    """
    file = folder / MARKER
    if not file.is_file():
        raise SchemaError(
            f"'{folder}' is not a claimlab export (it has no {MARKER}).",
            "Make one with claimlab export.",
        )
    try:
        raw = read_json(file, most=OF_OURS)
        if int(raw["export_version"]) > VERSION:
            raise SchemaError(
                f"'{folder}' was exported by a newer claimlab (version {raw['export_version']} of"
                f" {MARKER}).",
                "Upgrade with: pip install -U claimlab",
            )
        marker = Marker.model_validate(raw)
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise SchemaError(
            f"'{file}' cannot be read: {error}.", "Export the dataset again."
        ) from None
    for name in marker.files:
        if not is_inner(name):
            raise SchemaError(
                f"'{file}' names a file outside its folder ('{name}').", "Do not trust this folder."
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
        name
        for name, digest in marker.files.items()
        if not (folder / name).is_file() or digest_file(folder / name) != digest
    ]
