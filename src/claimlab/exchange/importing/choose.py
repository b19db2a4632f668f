"""Which files of a folder or zip hold the data: tables by their content, or else texts. And the
other way round: the globs that choose some files, for the options that a message offers.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from claimlab.core.errors import DataError
from claimlab.core.words import several
from claimlab.files import sniff
from claimlab.files.bundle import Bundle
from claimlab.files.encoding import looks_binary, sniff_encoding
from claimlab.files.kinds import HEAD, TABLES
from claimlab.files.parquet import DICT, INFO, STATE

TEXTS = (".txt", ".text")
PICKLES = (".pkl", ".pickle")
# Files about the data, by the start of their name or by their whole name.
ABOUT = (
    "readme",
    "license",
    "licence",
    "copying",
    "changelog",
    "citation",
    "notice",
    "requirements",
)
ABOUT_TABLES = (
    "claimlab.json",
    "call.json",
    "croissant.json",
    "dataset_infos.json",
    "datapackage.json",
    "package.json",
    INFO,
    DICT,
)
LEAST_ROWS = 5  # lines of the same number of cells that make a text file a table
GLOBS, LONGEST = 3, 100  # patterns that an option may need, and characters of one

Member = tuple[Bundle, str]


def choose(bundles: Sequence[Bundle], only: Sequence[str]) -> tuple[list[Member], list[str]]:
    """The members to read, and the names of those that are left out. A file that was named itself
    is always read.
    """
    everything = [(bundle, name) for bundle in bundles for name in bundle.names()]
    if only:
        return _matching(bundles, only, everything), []
    named = [(bundle, name) for bundle, name in everything if bundle.is_named(name)]
    aside = set(named)
    for bundle, name in everything:
        if PurePosixPath(name).name == INFO:
            aside.add((bundle, str(PurePosixPath(name).with_name(STATE))))
    chosen = named + _data(
        [member for member in everything if member not in aside and not _about(member[1])]
    )
    if not chosen:
        _refuse_nothing(bundles, everything)
    to_read = set(chosen)
    return chosen, [name for bundle, name in everything if (bundle, name) not in to_read]


def _matching(
    bundles: Sequence[Bundle], only: Sequence[str], everything: Sequence[Member]
) -> list[Member]:
    chosen = [(bundle, name) for bundle in bundles for name in bundle.match(*only)]
    if not chosen:
        raise DataError(
            f"No file matches {' or '.join(map(repr, only))}.",
            f"There are: {some(everything)}.",
        )
    return chosen


def _data(inside: Sequence[Member]) -> list[Member]:
    """The tables among the members of folders and zips, or else the texts."""
    texts = [m for m in inside if suffix_of(m[1]) in TEXTS]
    tables = [m for m in inside if suffix_of(m[1]) in TABLES]
    if texts and (len(texts) <= 1_000 or is_table(texts[0])):
        tables += [m for m in texts if is_table(m)]
    if tables:
        _refuse_few_of_many(tables, texts)
    return sorted(tables, key=lambda m: m[1]) or texts


def is_table(member: Member) -> bool:
    """Whether nearly all lines of a text file have the same number of tabs, commas or
    semicolons.
    """
    bundle, name = member
    data = bundle.head(name, HEAD)
    if looks_binary(data):
        return False
    text = data.decode(sniff_encoding(data), errors="replace")
    if len(data) == HEAD:
        text = text[: text.rfind("\n") + 1]
    lines = [line for line in text.splitlines() if line.strip()]
    delimiter = sniff.sniff_delimiter("\n".join(lines), "") if len(lines) >= LEAST_ROWS else None
    return delimiter is not None and sniff.agrees("\n".join(lines), delimiter) >= 0.9


def suffix_of(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def some(members: Sequence[Member]) -> str:
    return ", ".join(n for _, n in members[:8]) + (", …" if len(members) > 8 else "")


def _refuse_few_of_many(tables: Sequence[Member], texts: Sequence[Member]) -> None:
    """A table beside hundreds of texts may be about them; which of the two are the records is not
    ours to say.
    """
    prose = len(set(texts) - set(tables))
    if prose >= 50 and prose > 10 * len(tables):
        raise DataError(
            f"There are {several(prose, 'text')} and {several(len(tables), 'table')}"
            f" ({some(tables)}).",
            f"Say which are the records: `only='*.txt'`, or `only='{tables[0][1]}'`.",
        )


def _refuse_nothing(bundles: Sequence[Bundle], everything: Sequence[Member]) -> None:
    where = ", ".join(f"'{b.path}'" for b in bundles)
    if not everything:
        raise DataError(
            f"{where} holds no file.", "Give a file, or a folder or zip that holds some."
        )
    if any(suffix_of(name) in PICKLES for _, name in everything):
        raise DataError(
            f"{where} holds no table and no text but Python pickles ({some(everything)}).",
            "A pickle can run any program when it is opened, so claimlab never opens one: get the"
            " tables as CSV, JSONL or Parquet.",
        )
    raise DataError(
        f"{where} holds no table and no text (it holds: {some(everything)}).",
        "Give CSV, TSV, JSON, JSONL, Parquet, XLSX or TXT files, or choose others: `only='*.dat'`.",
    )


def _about(name: str) -> bool:
    file = PurePosixPath(name).name.lower()
    return file.startswith(ABOUT) or file in ABOUT_TABLES


def only(names: Sequence[str], others: Collection[str]) -> str:
    """The argument that chooses these files and no others: `only='data/*.csv'`, or a list of
    them.
    """
    globs = patterns(names, others)
    return f"`only='{globs[0]}'`" if len(globs) == 1 else f"`only={globs!r}`"


def patterns(names: Sequence[str], others: Collection[str]) -> list[str]:
    """At most three short globs for these names that match none of the others, or as few as
    possible.
    """
    end = _shared_start([name[::-1] for name in names])[::-1]
    words = [f"*{word}*{end}" for word in _shared_words(names)]
    whole = [_one(name) for name in names]
    choices = [
        [f"{_shared_start(names)}*{end}"],
        *([word] for word in words),
        _by_folder(names),
        _by_folder(names, top=True),
        [f"*{suffix}" for suffix in sorted({PurePosixPath(name).suffix for name in names})],
    ]
    strangers = set(others) - set(names)
    short = [
        globs
        for globs in ([whole] if len(names) == 1 else [*choices, whole])
        if 0 < len(globs) <= GLOBS
        and max(map(len, globs)) < LONGEST
        and all(_matched(globs, [name]) for name in names)
    ]
    missed = (sum(_matched(globs, [name]) for name in strangers) for globs in short)
    ranked = sorted(zip(missed, range(len(short)), short, strict=True))
    return ranked[0][2] if ranked else [f"*{end[-LONGEST // 2 :]}"]


def _one(name: str) -> str:
    """The glob of one file; of a very long name the end."""
    short = name if len(name) < LONGEST - 20 else f"*{name[-LONGEST // 2 :]}"
    return short.replace("[", "[[]")


def _by_folder(names: Sequence[str], *, top: bool = False) -> list[str]:
    """A glob for each folder, or for each of the outermost; none where a name lies in no folder,
    which no glob matches.
    """
    places = [PurePosixPath(name) for name in names]
    if PurePosixPath() in {place.parent for place in places}:
        return []
    folders = {(place.parts[0] if top else str(place.parent), place.suffix) for place in places}
    return sorted(f"{folder}/*{suffix}" for folder, suffix in folders)


def _shared_words(names: Sequence[str]) -> list[str]:
    """Words that occur in every name, between marks such as _ and -, the longest first."""
    words = set.intersection(
        *(set(re.split(r"[^0-9A-Za-z]+", PurePosixPath(n).stem)) for n in names)
    )
    return sorted(
        (word for word in words if word.isalpha() and len(word) > 2),
        key=lambda word: (-len(word), word),
    )


def _matched(globs: Sequence[str], names: Collection[str]) -> bool:
    """Whether a glob matches one of the names, or the end of its path."""
    lower = [glob.lower() for glob in globs]
    return any(
        fnmatch.fnmatchcase(name.lower(), glob) or fnmatch.fnmatchcase(name.lower(), f"*/{glob}")
        for name in names
        for glob in lower
    )


def _shared_start(words: Sequence[str]) -> str:
    first, last = min(words), max(words)
    length = next(
        (i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]),
        len(first),
    )
    return first[:length]
