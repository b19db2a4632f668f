"""Single files that are packed with gzip or bzip2 (claims.csv.gz), unpacked in memory under the
rules for archives.
"""

from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path
from typing import IO

from claimlab.core.errors import UnreadableFile

MAX_RATIO = 100  # unpacked / packed, where it is more than 4 MiB; text packs 3 to 20 times
RATIO_FREE = 4 << 20
PIECE = 1 << 20  # bytes read at a time: the most that a file can unpack before its size is checked
SUFFIXES = (".gz", ".bz2")
TARS = (".tar.gz", ".tgz", ".tar.bz2")
GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
# what follows the mark of bzip2, so that a text that begins with BZh is not taken for it
_BLOCK = b"1AY&SY"


def is_packed(head: bytes, name: str) -> bool:
    """Whether a file is packed with gzip or bzip2, by its first bytes. Archives of several files
    (.tar.gz) are not.
    """
    bzip2 = head.startswith(BZIP2) and head[4:10] == _BLOCK
    return (head.startswith(GZIP) or bzip2) and not name.lower().endswith(TARS)


def plain_name(name: str) -> str:
    """The name without the mark of the packer: claims.csv.gz is claims.csv."""
    return name[: name.rindex(".")] if name.lower().endswith(SUFFIXES) else name


def unpack(source: Path | bytes, name: str) -> bytes:
    """What a packed file holds, piece by piece: it is refused as soon as it is out of
    proportion.
    """
    from claimlab.files.bounds import refuse_large

    size = source.stat().st_size if isinstance(source, Path) else len(source)
    whole = io.BytesIO()
    try:
        with (
            source.open("rb") if isinstance(source, Path) else io.BytesIO(source) as raw,
            _opened(raw) as file,
        ):
            while piece := file.read(PIECE):
                whole.write(piece)
                refuse_bomb(f"'{name}'", whole.tell(), size)
                refuse_large(f"'{name}'", whole.tell())
    except (OSError, EOFError, ValueError) as error:
        raise UnreadableFile(f"'{name}' cannot be unpacked: {error}.", "Get it again.") from None
    return whole.getvalue()


def _opened(raw: IO[bytes]) -> IO[bytes]:
    mark = raw.read(2)
    raw.seek(0)
    return gzip.GzipFile(fileobj=raw) if mark == GZIP else bz2.BZ2File(raw)  # type: ignore[return-value]


def refuse_bomb(what: str, unpacked: int, packed: int) -> None:
    if unpacked > RATIO_FREE and unpacked > MAX_RATIO * max(1, packed):
        raise UnreadableFile(
            f"{what} would unpack to {unpacked / (1 << 20):,.0f} MB, {unpacked // max(1, packed):,}"
            " times its size: it looks like a zip bomb.",
            "Unpack it yourself if you trust it, then give the folder.",
        )
