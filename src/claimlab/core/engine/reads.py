"""What a shard reads, by its digest: a worker compares before it uses a file that other people may
be able to write.

run_stage(do_rows, [{"rows": reads(file), "size": 10}], ...) # do_rows finds the path in
shard["rows"]
"""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

from claimlab.core.digest import digest_once
from claimlab.core.errors import DataError
from claimlab.core.types import Json

READS = "$reads"


def reads(path: str | Path, digest: str | None = None) -> dict[str, str]:
    """A file or folder as part of a shard; `digest` is that of `digest_of`, where it is known
    already.
    """
    whole = Path(path).absolute()
    return {READS: str(whole), "sha256": digest or digest_of(whole)}


def checked(shard: Json) -> Json:
    """The shard with the path of each thing that it reads, which is as it was when the run was
    started.
    """
    if isinstance(shard, list):
        return [checked(part) for part in shard]
    if not isinstance(shard, dict):
        return shard
    if READS in shard:
        return str(check(Path(shard[READS]), shard["sha256"]))
    return {name: checked(value) for name, value in shard.items()}


def check(path: Path, digest: object) -> Path:
    if digest_of(path) != digest:
        raise DataError(
            f"'{path}' was changed after the run had written or read it.",
            "Run the same again. If it comes again, use a folder that only you can write.",
        )
    return path


def keep(folder: Path, content: bytes, ending: str) -> dict[str, str]:
    """Write what shards read into `folder` once, under its digest; what another user left there is
    replaced.
    """
    digest = hashlib.sha256(content).hexdigest()
    file = folder.absolute() / f"{digest[:32]}.{ending}"
    if not (file.is_file() and digest_of(file) == digest):
        file.parent.mkdir(parents=True, exist_ok=True)
        building = file.with_name(f".{file.name}.building-{uuid.uuid4().hex}")
        building.write_bytes(content)
        building.replace(file)
    return reads(file, digest)


def digest_of(path: Path) -> str:
    """The sha256 of a file, or of the names and hashes of all files of a folder. Each is read once,
    as long as the file system says that nothing was changed."""
    if not path.is_dir():
        return digest_once(path)
    lines = "".join(f"{digest} {name}\n" for name, digest in digests_in(path).items())
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def digests_in(folder: Path) -> dict[str, str]:
    """Of each file of a folder, by its name, for those who read only some of them."""
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*")}
    return {name: digest_once(files[name]) for name in sorted(files) if files[name].is_file()}
