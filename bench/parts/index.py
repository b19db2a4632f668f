"""A local index of a few texts."""

from __future__ import annotations

import json
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path

from claimlab.search.local import LocalIndex, build_index


def index_of(texts: Mapping[str, str], language: str) -> LocalIndex:
    """Built as users build theirs, from a file on disk; its folder goes when the index does."""
    kept = tempfile.TemporaryDirectory(prefix="claimlab-bench-")
    folder = Path(kept.name)
    lines = (json.dumps({"id": i, "text": text, "language": language}) for i, text in texts.items())
    (folder / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    build_index(folder / "texts.jsonl", folder / "index", language=language)
    index = LocalIndex(folder / "index")
    weakref.finalize(index, kept.cleanup)
    return index
