"""Where files came from that this process brought here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from claimlab.core.types import JsonObject

_arrived: dict[Path, Provenance] = {}


@dataclass(frozen=True)
class Provenance:
    """Where a folder of files came from."""

    address: str  # as it was asked for
    pinned: str  # with its revision
    files: Mapping[str, str]  # name -> sha256
    notes: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        return {
            "address": self.address,
            "pinned": self.pinned,
            "files": dict(self.files),
            **({"notes": list(self.notes)} if self.notes else {}),
        }


def note_arrival(path: Path, provenance: Provenance) -> None:
    _arrived[path.resolve()] = provenance


def provenance_of(path: str | Path) -> Provenance | None:
    """Where a file or folder came from that this process brought here."""
    return _arrived.get(Path(path).resolve()) if _arrived else None
