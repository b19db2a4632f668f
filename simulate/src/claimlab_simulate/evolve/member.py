"""Which file of a zip or folder is meant: the one that is named, the only one, or one of the usual
names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claimlab.core.errors import UsageError
from claimlab.files.bundle import Bundle


@contextmanager
def open_member(source: str | Path, *usual: str) -> Iterator[tuple[Bundle, str]]:
    """The bundle of a path (or ARCHIVE#MEMBER) and the name of the file; of several that could be
    meant none is guessed.
    """
    path, _, member = str(source).partition("#")
    with Bundle.open(path) as bundle:
        names = bundle.names()
        candidates = names if len(names) == 1 else bundle.match(*usual) if usual else []
        if member:
            candidates = [bundle.one(member)]
        if len(candidates) != 1:
            raise UsageError(
                f"'{bundle.path.name}' holds {len(names)} files, and {len(candidates) or 'none'} of"
                " them may be meant.",
                f"Name the one, such as '{path}#{names[0]}'." if names else "Give a file.",
            )
        yield bundle, candidates[0]
