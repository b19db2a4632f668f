"""Whether an engine can be used, asked before any work is done: so a wrong word never waits for large data."""

from __future__ import annotations

from claimlab.core.engine.cluster import connect
from claimlab.core.engine.names import parse_engine, patience


def check_engine(engine: str | None) -> None:
    """Raise where the word is not a valid engine, or where no cluster answers."""
    spec = parse_engine(engine)
    patience(0)
    if spec.kind == "dask":
        connect(spec)
