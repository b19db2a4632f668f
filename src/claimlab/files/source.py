"""A file, or the bytes of one, to read from."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO


def opened(source: Path | bytes) -> IO[bytes]:
    """A file, or the bytes of one, to read from."""
    return source.open("rb") if isinstance(source, Path) else io.BytesIO(source)


def size_of(source: Path | bytes) -> int:
    return source.stat().st_size if isinstance(source, Path) else len(source)
