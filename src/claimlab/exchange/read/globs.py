"""Globs that choose some files of a folder or zip, for the options that a message offers."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

GLOBS = 12  # patterns that an option may need


def only(names: Sequence[str], others: Collection[str]) -> str:
    """The argument that chooses these files and no others: `only='data/*.csv'`, or a list of
    them.
    """
    globs = patterns(names, others)
    return f"`only='{globs[0]}'`" if len(globs) == 1 else f"`only={globs!r}`"


def patterns(names: Sequence[str], others: Collection[str]) -> list[str]:
    """Globs that match these names and none of the others: one if possible, else one for each
    folder, or the names.
    """
    start, end = _shared_start(names), _shared_start([n[::-1] for n in names])[::-1]
    whole = names[0] if len(names) == 1 else f"{start}*{end}"
    if len(names) == 1 or not _matched(whole, names, others):
        return [_escaped(names[0])] if len(names) == 1 else [whole]
    by_word = [f"*{word}*{end}" for word in _shared_words(names)]
    if word := next((glob for glob in by_word if not _matched(glob, names, others)), None):
        return [word]
    folders = {str(PurePosixPath(n).parent) for n in names}
    by_folder = sorted({f"{PurePosixPath(n).parent}/*{PurePosixPath(n).suffix}" for n in names})
    few = (
        len(by_folder) <= GLOBS and "." not in folders
    )  # what lies in no folder is matched by no folder's glob
    if few and not any(_matched(p, names, others) for p in by_folder):
        return by_folder
    return [_escaped(n) for n in names]


def _shared_words(names: Sequence[str]) -> list[str]:
    """Words that occur in every name, between marks such as _ and -, the longest first."""
    words = set.intersection(
        *(set(re.split(r"[^0-9A-Za-z]+", PurePosixPath(n).stem)) for n in names)
    )
    return sorted(
        (word for word in words if word.isalpha() and len(word) > 2),
        key=lambda word: (-len(word), word),
    )


def _matched(pattern: str, names: Collection[str], others: Collection[str]) -> bool:
    low = pattern.lower()
    wanted = set(names)
    return any(
        fnmatch.fnmatchcase(n.lower(), low) or fnmatch.fnmatchcase(n.lower(), f"*/{low}")
        for n in others
        if n not in wanted
    )


def _escaped(name: str) -> str:
    return name.replace("[", "[[]") if "[" in name else name


def _shared_start(words: Sequence[str]) -> str:
    first, last = min(words), max(words)
    length = next(
        (i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]),
        len(first),
    )
    return first[:length]
