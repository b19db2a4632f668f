"""Bring files here: from the cache, from a folder of the user's, or from their addresses.

What came is a folder with the files under their names, and a `Provenance` that says from where, at
which version and with which hashes. What is in the cache needs no network.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from claimlab.core.atomic import quick_text, read_object
from claimlab.core.digest import digest_json, digest_once
from claimlab.core.errors import DataError, DownloadFailed
from claimlab.core.fetch import store
from claimlab.core.fetch.archive import unpacked_tree
from claimlab.core.fetch.download import Expected, Reach, download
from claimlab.core.fetch.hosts import RemoteFile, ResolvedSource, archive_url, resolve
from claimlab.core.fetch.provenance import Provenance, note_arrival
from claimlab.core.fetch.schemes import source_host
from claimlab.core.grants import Wanted, grant
from claimlab.core.progress import progress
from claimlab.core.sync import run

AT_ONCE = 6  # files that are downloaded at the same time
FREE_SHARE = 1.1  # of the bytes to come that the disk must have
TOKENS = {
    "huggingface.co": "HF_TOKEN",
    "api.github.com": "GITHUB_TOKEN",
    "raw.githubusercontent.com": "GITHUB_TOKEN",
}
OFFLINE = ("CLAIMLAB_OFFLINE", "HF_HUB_OFFLINE")
RECORDS = ("zenodo:", "figshare:")  # whose versions are never edited
AT_COMMIT = re.compile(r"@[0-9a-f]{40}(?:/|$)")
TRUE_WORDS = ("1", "true", "yes", "on")


@dataclass(frozen=True)
class Tree:
    """A folder of a repository with too many files to name: all of them are verified together.

    `listing` is the sha256 of its files' git blob ids and names, a line each, sorted.
    """

    path: str
    files: int
    size: int  # bytes of all files
    listing: str


@dataclass
class Arrivals:
    """How many bytes of all files have come."""

    total: int | None
    label: str
    come: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str, size: int) -> None:
        self.come[name] = size
        progress(self.label, sum(self.come.values()), self.total)


def offline() -> bool:
    """Whether the user has forbidden the network."""
    return any(os.environ.get(name, "").strip().lower() in TRUE_WORDS for name in OFFLINE)


def reach() -> Reach:
    """What may be reached, with the tokens of the environment."""
    tokens = {host: os.environ[name] for host, name in TOKENS.items() if os.environ.get(name)}
    return Reach(tokens=tokens)


def to_read(address: str) -> Path:
    """What an address names, as a local file or folder; `provenance_of` says where it came from."""
    path, provenance = bring(address)
    note_arrival(path, provenance)
    return path


def bring(address: str) -> tuple[Path, Provenance]:
    """The files that an address names, as a file or a folder, and where they came from."""
    grant(Wanted("host", source_host(address), "data that is downloaded"))
    note = _note_of(address)
    cached = _remembered(address, note)
    if cached is not None:
        return cached
    if offline():
        raise DownloadFailed(
            address,
            "is not in the cache, and the network is switched off",
            f"Unset {OFFLINE[0]}, or give files that are here.",
        )
    progress("asking for the list of files", 0, None)
    source = run(resolve(address, reach()))
    files = bring_files(source.files)
    provenance = Provenance(address, source.pinned, files, source.notes)
    if _is_fixed(source):
        note.parent.mkdir(parents=True, exist_ok=True)
        quick_text(note, json.dumps(provenance.to_json()))
    return folder_of(provenance), provenance


def _is_fixed(source: ResolvedSource) -> bool:
    """Whether the same address will always mean the same files."""
    record = source.pinned.startswith(RECORDS) and source.pinned.endswith(
        source.address.rpartition(":")[2]
    )
    return record or AT_COMMIT.search(source.address) is not None


def _note_of(address: str) -> Path:
    return store.downloads_folder() / "addresses" / f"{digest_json(address)[:32]}.json"


def _remembered(address: str, note: Path) -> tuple[Path, Provenance] | None:
    """What the address named the last time, where it cannot have changed and all is here."""
    content = read_object(note)
    if content.get("address") != address:
        return None
    files = {str(name): str(digest) for name, digest in content["files"].items()}
    if not all(map(store.stored, files.values())):
        return None
    provenance = Provenance(address, str(content["pinned"]), files, tuple(content.get("notes", ())))
    return folder_of(provenance), provenance


def folder_of(provenance: Provenance) -> Path:
    """The files under their names; a single one as itself."""
    folder = store.gathered(provenance.files, own_name(provenance.pinned))
    if len(provenance.files) == 1:
        return folder / next(iter(provenance.files))
    return folder


def own_name(pinned: str) -> str:
    """What a source is called, without owner and revision: github:owner/name@... is name."""
    last = pinned.split("@")[0].rstrip("/").rpartition("/")[2].rpartition(":")[2]
    return re.sub(r"[^\w.-]", "-", last).strip(".-") or "data"


def bring_files(
    files: Sequence[RemoteFile], near: Iterable[Path] = (), label: str = "downloading"
) -> dict[str, str]:
    """Each file's sha256, all of them in the cache: what is in the folders `near` is found by its
    hash, and only the rest is downloaded.
    """
    digests = {each.name: here for each in files if (here := _here(each.expected)) is not None}
    missing = [each for each in files if each.name not in digests]
    digests |= _found_near(missing, near)
    missing = [each for each in missing if each.name not in digests]
    if missing:
        refuse_offline([each.url for each in missing])
        sizes = [each.expected.size for each in missing]
        total = None if None in sizes else sum(filter(None, sizes))
        refuse_full_disk(total)
        digests |= run(_downloaded(missing, Arrivals(total, label)))
    return {each.name: digests[each.name] for each in files}


def refuse_offline(urls: Sequence[str]) -> None:
    if offline():
        raise DownloadFailed(
            urls[0],
            "is not in the cache, and the network is switched off",
            f"Unset {OFFLINE[0]}, or give the files: `source`.",
        )


def refuse_full_disk(size: int | None) -> None:
    folder = store.downloads_folder()
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if size is not None and size * FREE_SHARE > free:
        raise DataError(
            f"{size / 1e6:,.0f} MB are to come, and the disk has {free / 1e6:,.0f} MB.",
            "Make room, or set CLAIMLAB_CACHE to a folder on another disk.",
        )


def _here(expected: Expected) -> str | None:
    """The hash of a file that is in the cache: as it is pinned, or by the id that git gave it."""
    if expected.sha256 is not None:
        return expected.sha256 if store.stored(expected.sha256) else None
    if expected.blob is not None:
        sha256 = read_object(_alias(expected.blob)).get("sha256")
        return str(sha256) if sha256 and store.stored(str(sha256)) else None
    return None


def _alias(blob: str) -> Path:
    return store.downloads_folder() / "blobs" / f"{blob}.json"


def _found_near(files: Sequence[RemoteFile], folders: Iterable[Path]) -> dict[str, str]:
    """Files of the user that have the pinned size and hash, copied into the cache."""
    wanted: dict[int, list[RemoteFile]] = {}
    for each in files:
        if each.expected.size is not None and each.expected.sha256 is not None:
            wanted.setdefault(each.expected.size, []).append(each)
    digests: dict[str, str] = {}
    for folder in folders:
        for file in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            if not file.is_file() or file.stat().st_size not in wanted:
                continue
            digest = digest_once(file)
            for each in wanted[file.stat().st_size]:
                if each.expected.sha256 == digest and each.name not in digests:
                    store.keep_copy(file, digest)
                    digests[each.name] = digest
    return digests


async def _downloaded(files: Sequence[RemoteFile], tally: Arrivals) -> dict[str, str]:
    turns, reached = asyncio.Semaphore(AT_ONCE), reach()

    async def one_file(file: RemoteFile) -> tuple[str, str]:
        async with turns:
            return file.name, await _into_store(file, reached, tally)

    tasks = [asyncio.ensure_future(one_file(file)) for file in files]
    try:
        return dict(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def _into_store(file: RemoteFile, reached: Reach, tally: Arrivals) -> str:
    expected = file.expected
    key = f"{file.url} {expected.sha256} {expected.blob} {expected.size}"
    with store.part_of(key) as part:
        try:
            received = await download(
                file.url, part, expected, reached, lambda size: tally(file.name, size)
            )
        except DownloadFailed:
            part.unlink(missing_ok=True)
            raise
        store.keep(part, received.sha256)
    alias = _alias(received.blob)
    alias.parent.mkdir(parents=True, exist_ok=True)
    quick_text(alias, json.dumps({"sha256": received.sha256}))
    return received.sha256


def bring_tree(pinned: str, tree: Tree, label: str = "downloading") -> dict[str, str]:
    """The files of a folder of a repository, from the archive of its commit: name -> sha256."""
    note = store.downloads_folder() / "trees" / f"{tree.listing}.json"
    noted = read_object(note).get("files", {})
    if noted and all(map(store.stored, noted.values())):
        return dict(noted)
    url = archive_url(pinned)
    refuse_offline([url])
    refuse_full_disk(2 * tree.size)
    tally = Arrivals(None, label)

    async def fetched(part: Path) -> None:
        await download(url, part, Expected(), reach(), lambda size: tally("archive", size))

    with store.part_of(f"{url} {tree.listing}") as part:
        try:
            run(fetched(part))
            files = unpacked_tree(part, tree.path, tree.files, tree.size, tree.listing, url)
        finally:
            part.unlink(missing_ok=True)
    note.parent.mkdir(parents=True, exist_ok=True)
    quick_text(note, json.dumps({"files": files}))
    return files
