"""Which engine does the work, from one word: `local`, `local:4`, `dask`, `dask://HOST:PORT` or `shared`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from claimlab.core.errors import UsageError

_TODO = "Choose 'local', 'local:N' (N processes), 'dask', 'dask://HOST:PORT' or 'shared'."


@dataclass(frozen=True)
class Engine:
    """`workers` is how many processes were asked for (null: as many as cores and memory allow)."""

    kind: str = "local"
    workers: int | None = None
    address: str | None = None

    @property
    def is_remote(self) -> bool:
        """Whether workers may be on other machines, which see nothing but a shared folder."""
        return self.kind == "shared" or self.address is not None


def parse_engine(engine: str | None) -> Engine:
    """The engine that the word means; nothing is started or connected to."""
    if engine is None or engine == "local":
        return Engine()
    if engine in ("dask", "shared"):
        return Engine(engine)
    if match := re.fullmatch(r"local:([1-9]\d{0,4})", engine):
        return Engine("local", workers=int(match[1]))
    if match := re.fullmatch(r"dask://(\[[0-9a-fA-F:]+\]|[\w.-]+):(\d{1,5})", engine):
        return Engine("dask", address=f"tcp://{match[1]}:{match[2]}")
    raise UsageError(f"'{engine}' is not a valid engine.", _TODO)


def check_engine(engine: str | None) -> None:
    """Raise where the engine cannot be used, before any work is done: so a wrong word never waits for large data."""
    parse_engine(engine)
