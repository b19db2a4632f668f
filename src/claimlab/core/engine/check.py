"""Whether an engine can be used, asked before any work is done: so a wrong word never waits for
large data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from claimlab.core.engine.cluster import connect
from claimlab.core.engine.names import parse_engine, patience
from claimlab.core.engine.secret import VARIABLE, known_secret, own_secret, secret_file
from claimlab.core.errors import UsageError

if TYPE_CHECKING:
    pass


def check_engine(engine: str | None) -> None:
    """Raise where the word is not a valid engine, or where no cluster answers."""
    spec = parse_engine(engine)
    patience(0)
    if spec.kind == "dask":
        connect(spec)
    if spec.kind == "shared":
        own_secret()
        if known_secret() is None:
            raise UsageError(
                f"Workers need a secret of the run, and '{secret_file()}' cannot be written.",
                f"Set {VARIABLE} for the run and for its workers, such as to: openssl rand"
                " -hex 32.",
            )
