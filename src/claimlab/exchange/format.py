"""The contract of an export format: one file in `exchange/formats/` with a module-level FORMAT.

A format writes into an empty folder that `claimlab.exchange.export` swaps into place. One that
loses nothing has a `read` next to its `write`, and a test checks that the round trip is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Protocol, runtime_checkable

from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject
from claimlab.exchange.marker import Marker


@dataclass(frozen=True)
class Settings:
    """What a user may ask of a format; `Format.accepts` names those that it knows."""

    bom: bool = False  # a byte-order mark in front, by which Excel knows UTF-8
    task: str = "veracity"  # what is asked of a record, in formats that ask
    audit: str | None = None  # a saved audit of the dataset: hf and croissant say what it found
    split: str | None = None  # the records that are asked about: those of "test" where there is one

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


class Format(Protocol):
    name: str
    summary: str
    accepts: frozenset[str]
    back: tuple[Road, ...]  # none: what it writes is for others only

    def write(
        self, dataset: Dataset, folder: Path, settings: Settings, progress: Progress = silent
    ) -> Written: ...


@runtime_checkable
class Lossless(Protocol):
    """What a format that loses nothing has besides."""

    def read(self, folder: Path, marker: Marker) -> Dataset:
        """The dataset back from an exported folder: same records, same side tables, same
        lineage.
        """
        ...


FORMATS: Registry[Format] = Registry(
    "export format",
    package="claimlab.exchange.formats",
    attribute="FORMAT",
    group="claimlab.formats",
)
