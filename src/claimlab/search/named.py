"""From the words of a command to a chain of search providers: "brave", "local:FOLDER", each a fallback."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from claimlab.core.calls.calls import Calls
from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.core.places import cache_folder
from claimlab.core.progress import Progress, silent
from claimlab.search.chain import Chain
from claimlab.search.connect import connect
from claimlab.search.local import MANIFEST, build_index


def named_chain(names: Sequence[str], calls: Calls) -> Chain:
    """The providers that `names` name; what "local:FOLDER" points at is indexed first where it is not an index yet."""
    plain, settings = [], {}
    for name in names:
        kind, _, place = name.partition(":")
        if kind in plain:
            raise UsageError(f"The search provider '{kind}' is in one chain twice.", "Name it once.")
        plain.append(kind)
        if kind == "local":
            settings[kind] = {"index": index_at(place, calls.progress)}
        elif place:
            raise UsageError(f"'{name}' names a place, and only local:FOLDER has one.", f"Write: {kind}")
    return connect(plain, calls, settings=settings)


def index_at(place: str, progress: Progress = silent) -> Path:
    """The index at `place`; a dataset, a folder of documents or a file is indexed first, in the user's cache folder."""
    if not place:
        raise UsageError("The local provider needs a place.", "Write local:FOLDER, an index or what to index.")
    path = Path(place)
    if (path / MANIFEST).is_file():
        return path
    if not path.exists():
        raise UnreadableFile(f"There is no '{path}' to search in.", "Check the path after local:")
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    target = cache_folder() / "indexes" / name
    build_index(path, target, progress=progress)
    return target
