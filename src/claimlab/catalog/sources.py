"""Where the files of a catalogued dataset come from: `data/sources/NAME.toml`, written by
`PYTHONPATH=bench python -m manual.pin NAME` and never by hand.

Each source is a repository at a commit, or a fixed record, with its files: name, bytes and hashes.
A file whose sha256 is here was read when it was pinned; one with a git blob id alone is known from
the listing of its commit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field

from claimlab.catalog.plain import Closed
from claimlab.core.fetch import front, store
from claimlab.core.fetch.download import Expected
from claimlab.core.fetch.front import Tree
from claimlab.core.fetch.hosts import RemoteFile, raw_url
from claimlab.core.fetch.provenance import Provenance
from claimlab.core.types import JsonObject
from claimlab.core.words import several

FOLDER = resources.files("claimlab.catalog") / "data" / "sources"
COMMIT_TAIL = "0" * 28  # of a commit, left out where people read it
PinKind = Literal["bytes read", "commit and blob id", "LFS pointer"]


class PinnedFile(Closed):
    """One file: `path` in its source; `name` for the reader, where it is another."""

    path: str
    bytes: int | None = None
    sha256: str | None = None
    blob: str | None = None
    lfs: bool = False  # sha256 and size are from a pointer of Git LFS
    url: str | None = None  # where the source has no rule for addresses
    name: str | None = None

    @property
    def kind(self) -> PinKind:
        if self.lfs:
            return "LFS pointer"
        return "bytes read" if self.sha256 else "commit and blob id"

    @property
    def called(self) -> str:
        return self.name or self.path


class PinnedTree(Closed):
    """A folder of many files, verified together; see core/fetch/front."""

    path: str = ""
    files: int
    bytes: int
    listing: str
    read: bool  # all of its files were read when it was pinned


class PinnedSource(Closed):
    """A repository at a commit, or a record: SCHEME:NAME@REVISION."""

    from_: str = Field(alias="from")
    dated: str  # day of that commit
    whose: Literal["publisher", "copy"] = "publisher"
    note: str = ""
    files: tuple[PinnedFile, ...] = ()
    trees: tuple[PinnedTree, ...] = ()


class Sources(Closed):
    """All files of a dataset."""

    verified: str  # day on which the pins were held against a snapshot
    complete: bool = True  # all files that the publisher names
    sources: tuple[PinnedSource, ...]

    @property
    def kinds(self) -> set[PinKind]:
        files = {file.kind for source in self.sources for file in source.files}
        trees: set[PinKind] = {
            "bytes read" if tree.read else "commit and blob id"
            for source in self.sources
            for tree in source.trees
        }
        return files | trees

    @property
    def size(self) -> int | None:
        """Bytes of all files; null where the size of a file is missing."""
        sizes = [file.bytes for source in self.sources for file in source.files]
        sizes += [tree.bytes for source in self.sources for tree in source.trees]
        return None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def number(self) -> int:
        return sum(
            len(source.files) + sum(tree.files for tree in source.trees) for source in self.sources
        )


@cache
def sources_of(name: str) -> Sources | None:
    """The pinned sources of a dataset; null where it cannot be had by name."""
    file = FOLDER / f"{name}.toml"
    if not file.is_file():
        return None
    return Sources(**tomllib.loads(file.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Brought:
    """The files of a dataset in a folder, and where they came from."""

    folder: Path
    sources: tuple[Provenance, ...]

    def to_json(self) -> list[JsonObject]:
        return [source.to_json() for source in self.sources]


def bring(name: str, sources: Sources, near: Sequence[Path] = ()) -> Brought:
    """All files of the dataset, verified; what is in the cache or in the folders `near` is not
    downloaded.
    """
    everything: dict[str, str] = {}
    provenances = []
    for source in sources.sources:
        label = f"downloading {name}"
        files = front.bring_files([_remote(source, file) for file in source.files], near, label)
        for tree in source.trees:
            pin = Tree(tree.path, tree.files, tree.bytes, tree.listing)
            files |= front.bring_tree(source.from_, pin, label)
        provenances.append(Provenance(source.from_, source.from_, files))
        everything |= files
    return Brought(store.gathered(everything, name), tuple(provenances))


def _remote(source: PinnedSource, file: PinnedFile) -> RemoteFile:
    url = file.url or raw_url(source.from_, file.path)
    return RemoteFile(file.called, url, Expected(file.bytes, file.sha256, file.blob))


@dataclass(frozen=True)
class HeldAgainst:
    """Files that a user gave, held against the pinned ones."""

    same: tuple[str, ...]
    other: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        commit = self.source.rpartition("@")[2][:12]
        place = self.source.partition("@")[0]
        if not self.other:
            return f"These are the files of {place} at {commit}."
        which = self.other[0] if len(self.other) == 1 else several(len(self.other), "file")
        return f"They differ from the files of {place} at {commit} in {which}."


def held_against(sources: Sources, digests: dict[str, str]) -> list[HeldAgainst]:
    """Which of the given files (name -> sha256) are the pinned ones. A file that was not given is
    not counted: it may be a part on purpose.
    """
    compared = []
    for source in sources.sources:
        same: list[str] = []
        other: list[str] = []
        for file in source.files:
            given = [d for name, d in digests.items() if _same_name(name, file.called)]
            if file.sha256 is None or not given:
                continue
            (same if file.sha256 in given else other).append(file.called)
        if same or other:
            compared.append(HeldAgainst(tuple(same), tuple(other), source.from_))
    return compared


def _same_name(given: str, pinned: str) -> bool:
    """Whether one name ends with the other, whole parts only."""
    mine, theirs = PurePosixPath(given).parts, PurePosixPath(pinned).parts
    shared = min(len(mine), len(theirs))
    return mine[-shared:] == theirs[-shared:]
