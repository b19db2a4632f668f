"""The files of a folder in the archive of a repository, each in the cache under its sha256.

The archive is read once from front to back and bounded by what was pinned; links and everything
outside the folder are passed over. The files count only if all of them together are the pinned
ones.
"""

from __future__ import annotations

import hashlib
import tarfile
import uuid
import zlib
from pathlib import Path

from claimlab.core.errors import DownloadFailed
from claimlab.core.fetch import store


def listing_of(blobs: dict[str, str]) -> str:
    """One hash for a set of files: of their git blob ids and names, a line each, sorted."""
    lines = sorted(f"{blob} {name}\n" for name, blob in blobs.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def unpacked_tree(
    archive: Path, folder: str, files: int, size: int, listing: str, url: str
) -> dict[str, str]:
    """Name in the repository -> sha256, for the `files` files of `size` bytes below `folder`."""
    blobs: dict[str, str] = {}
    digests: dict[str, str] = {}
    room = size
    parts = store.downloads_folder() / "parts"
    try:
        with tarfile.open(archive, "r|gz") as members:
            for member in members:
                name = member.name.partition("/")[2]
                if not member.isreg() or not _below(name, folder):
                    continue
                room -= member.size
                if len(blobs) >= files or room < 0:
                    raise _other(url)
                content = members.extractfile(member)
                data = content.read() if content is not None else b""
                blob = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
                blob.update(data)
                blobs[store.safe_name(name)] = blob.hexdigest()
                digests[name] = hashlib.sha256(data).hexdigest()
                if store.stored(digests[name]) is None:
                    part = parts / f"{uuid.uuid4().hex}.part"
                    part.write_bytes(data)
                    store.keep(part, digests[name])
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DownloadFailed(url, "is not a whole archive", "Try again later.") from None
    if listing_of(blobs) != listing:
        raise _other(url)
    return digests


def _below(name: str, folder: str) -> bool:
    return not folder or name == folder or name.startswith(f"{folder}/")


def _other(url: str) -> DownloadFailed:
    return DownloadFailed(
        url, "does not hold the files that were pinned", "Nothing of it was used."
    )
