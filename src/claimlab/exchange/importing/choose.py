"""Which files of a folder or zip hold the data: tables by their content, or else texts. And the
other way round: the globs that choose some files, for the options that a message offers.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from claimlab.core import packaged
from claimlab.core.errors import Choice, DataError
from claimlab.core.words import several
from claimlab.files import sniff
from claimlab.files.bundle import Bundle
from claimlab.files.card import DICT, INFO, INFOS, STATE
from claimlab.files.encoding import looks_binary, sniff_encoding
from claimlab.files.kinds import HEAD_BYTES, TABLE_SUFFIXES

TEXTS = (".txt", ".text")
PICKLES = (".pkl", ".pickle")
_KNOWN = packaged.toml("claimlab.exchange", "vocabulary.toml")
ABOUT_NAMES = tuple(_KNOWN["about"])
ABOUT_TABLES = {INFO, INFOS, DICT, *_KNOWN["about_tables"]}
LEAST_TABLE_LINES = 5  # lines of the same number of cells that make a text file a table
TEXTS_BESIDE_TABLES = 50  # beside tables, that may be the records
GLOBS_OFFERED, GLOB_CHARACTERS = 3, 100  # patterns that a message offers, and characters of one

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
    found = {
        glob: [(bundle, name) for bundle in bundles for name in bundle.match(glob)] for glob in only
    }
    taken: dict[Member, None] = {}
    for glob, members in found.items():  # `fake/*` is not `Fake/*`, where there are both
        exact = [member for member in members if is_exactly(glob, member[1])]
        taken |= dict.fromkeys(exact or members)
    chosen = [member for member in everything if member in taken] or list(taken)
    if not chosen:
        raise DataError(
            f"No file matches {' or '.join(map(repr, only))}.",
            f"There are: {some(everything)}.",
        )
    return chosen


def _data(inside: Sequence[Member]) -> list[Member]:
    """The tables among the members of folders and zips, or else the texts."""
    texts = [m for m in inside if suffix_of(m[1]) in TEXTS]
    tables = [
        m for m in inside if suffix_of(m[1]) in TABLE_SUFFIXES or m[0].table(m[1]) is not None
    ]
    if texts and (len(texts) <= 1_000 or is_table(texts[0])):
        tables += [m for m in texts if is_table(m)]
    prose = sorted(set(texts) - set(tables), key=lambda m: m[1])
    beside = prose if are_records(prose, tables) else []
    return [*sorted(tables, key=lambda m: m[1]), *beside] or texts


def is_table(member: Member) -> bool:
    """Whether nearly all lines of a text file have the same number of tabs, commas or
    semicolons.
    """
    bundle, name = member
    data = bundle.head(name, HEAD_BYTES)
    if looks_binary(data):
        return False
    text = data.decode(sniff_encoding(data), errors="replace")
    if len(data) == HEAD_BYTES:
        text = text[: text.rfind("\n") + 1]
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and all(line.startswith(sniff.FASTTEXT_LABEL) for line in lines):
        return True
    delimiter = (
        sniff.sniff_delimiter("\n".join(lines), "") if len(lines) >= LEAST_TABLE_LINES else None
    )
    return delimiter is not None and sniff.agrees("\n".join(lines), delimiter) >= 0.9


def suffix_of(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def some(members: Sequence[Member]) -> str:
    return ", ".join(n for _, n in members[:8]) + (", …" if len(members) > 8 else "")


def are_records(texts: Collection[Member], tables: Collection[Member]) -> bool:
    """Whether there are so many texts beside tables that they may be the records."""
    return len(texts) >= TEXTS_BESIDE_TABLES and len(texts) > 10 * len(tables)


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
        "Give CSV, TSV, JSON, JSONL, XML, Parquet, XLSX or TXT files, or choose others:"
        " `only='*.dat'`.",
    )


def _about(name: str) -> bool:
    file = PurePosixPath(name).name.lower()
    return file.startswith(ABOUT_NAMES) or not ABOUT_TABLES.isdisjoint(
        (file, *PurePosixPath(name).parts)
    )


def chosen(names: Sequence[str], others: Collection[str], words: str) -> Choice | None:
    """The choice of these files and no others; null where it would take too many patterns, or too
    long ones.
    """
    globs = patterns(names, others)
    return Choice("only", globs if len(globs) > 1 else globs[0], words) if globs else None


def some_of(names: Sequence[str]) -> str:
    """'a.csv', or 'a.csv' and 2 more files."""
    more = f" and {several(len(names) - 1, 'more file')}" if len(names) > 1 else ""
    return f"'{names[0]}'{more}"


def patterns(names: Sequence[str], others: Collection[str]) -> list[str]:
    """At most three globs that match all of these names and none of the others; none where there
    are no such.
    """
    strangers = set(others) - set(names)
    end = _shared_start([name[::-1] for name in names])[::-1]
    start = _shared_start(names)
    if len(names) > 1:
        choices = [
            [f"{_literal(start)}*{_literal(end)}"],
            [f"*{_literal(end)}"],
            *([f"*{word}*{_literal(end)}"] for word in _shared_words(names)),
            _by_folder(names),
            sorted(
                {
                    f"*/{_literal(PurePosixPath(name).parent.name)}/*{suffix_of(name)}"
                    for name in names
                }
            ),
        ]
    else:
        choices = []
    choices.append([_shortest(name, strangers) for name in names[: GLOBS_OFFERED + 1]])
    for globs in choices:
        short = 0 < len(globs) <= GLOBS_OFFERED and max(map(len, globs)) <= GLOB_CHARACTERS
        apart = not any(is_exactly(glob, name) for glob in globs for name in strangers)
        if short and apart and all(any(is_exactly(glob, n) for glob in globs) for n in names):
            return globs
    return []


def _literal(name: str) -> str:
    return name.replace("[", "[[]")


def _shortest(name: str, strangers: Collection[str]) -> str:
    """A name as it is, or where that is too long, as much of its end as matches no other file."""
    parts = PurePosixPath(name).parts
    tails = ["/".join(parts[-length:]) for length in range(len(parts), 0, -1)]
    apart = [
        _literal(tail)
        for tail in tails
        if not any(is_exactly(_literal(tail), stranger) for stranger in strangers)
    ]
    return next((tail for tail in apart if len(tail) <= GLOB_CHARACTERS), _literal(name))


def _by_folder(names: Sequence[str]) -> list[str]:
    """A glob for each folder; none where a name lies in no folder, which no glob matches."""
    places = [PurePosixPath(name) for name in names]
    globs = sorted({_literal(f"{place.parent}/") + f"*{place.suffix}" for place in places})
    return [] if PurePosixPath() in {place.parent for place in places} else globs


def _shared_words(names: Sequence[str]) -> list[str]:
    """Words that occur in every name, between marks such as _ and -, the longest first."""
    words = set.intersection(
        *(set(re.split(r"[^0-9A-Za-z]+", PurePosixPath(n).stem)) for n in names)
    )
    return sorted(
        (word for word in words if word.isalpha() and len(word) > 2),
        key=lambda word: (-len(word), word),
    )


def matched(globs: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that these globs choose: those that one matches in the same case, or where it
    matches none so, in any case."""
    taken: set[str] = set()
    for glob in globs:
        exact = [name for name in names if is_exactly(glob, name)]
        taken.update(exact or [n for n in names if is_exactly(glob.lower(), n.lower())])
    return [name for name in names if name in taken]


def is_exactly(glob: str, name: str) -> bool:
    """Whether a glob matches a name, or the end of its path, in the same case but for the suffix:
    what `a.csv` means is `a.CSV`, too."""
    name, glob = _with_lower_suffix(name), _with_lower_suffix(glob)
    return fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(name, f"*/{glob}")


def _with_lower_suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}{dot}{suffix.lower()}" if dot and "/" not in suffix else name


def _shared_start(words: Sequence[str]) -> str:
    first, last = min(words), max(words)
    length = next(
        (i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]),
        len(first),
    )
    return first[:length]
