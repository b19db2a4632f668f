"""Which files of a folder or zip hold the data: tables by their content, or else texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from claimlab.core.errors import DataError
from claimlab.core.words import several
from claimlab.files import sniff
from claimlab.files.bundle import Bundle
from claimlab.files.encoding import looks_binary, sniff_encoding
from claimlab.files.hub import DICT, INFO, STATE
from claimlab.files.kinds import HEAD, TABLES

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

Member = tuple[Bundle, str]


def choose(bundles: Sequence[Bundle], only: Sequence[str]) -> tuple[list[Member], list[str]]:
    """The members to read, and the names of those that are left out. A file that was named itself
    is always read.
    """
    everything = [(b, n) for b in bundles for n in b.names()]
    if only:
        chosen = [(b, n) for b in bundles for n in b.match(*only)]
        if not chosen:
            raise DataError(
                f"No file matches {' or '.join(map(repr, only))}.",
                f"There are: {some(everything)}.",
            )
        return chosen, []
    named = [(b, n) for b, n in everything if b.is_named(n)]
    taken = set(named)
    states = {
        (b, str(PurePosixPath(n).with_name(STATE)))
        for b, n in everything
        if PurePosixPath(n).name == INFO
    }
    chosen = named + _data(
        [m for m in everything if m not in taken and m not in states and not _about(m[1])]
    )
    if not chosen:
        _refuse_nothing(bundles, everything)
    to_read = set(chosen)
    return chosen, [n for b, n in everything if (b, n) not in to_read]


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
