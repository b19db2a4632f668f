"""Tables that belong together: the labels or reviews in one file, the texts in another, joined by a
key that both have.

A link is named by the user (`join`), or found: a column that names one row each of one table, and
of which the other has nearly all values. What was joined is said, with the option that turns it
off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import polars as pl

from claimlab.core.errors import DataError, UsageError
from claimlab.core.words import several, several_of, verb
from claimlab.exchange.importing.layouts import FILE, Gathered, Layout, part, rows_of
from claimlab.exchange.importing.texts import PATH
from claimlab.exchange.vocabulary import HEADER_WORDS, fold_name
from claimlab.files.bundle import Bundle
from claimlab.files.raw import Options, RawTable, literal_text
from claimlab.files.read import read_table

NONE = "none"
OVERLAP = 0.9  # of the keys of one table, that the other must have
LEAST = 5  # keys
LONGEST = 120  # characters of a key
MOST_ROWS = 50  # of one key
KEY = "key of the link"  # the column to join by, while joining
STEM = "file name"  # a key that is no column: the name of a file of one record


def turned_off(join: Sequence[str]) -> bool:
    return [words.lower() for words in join] == [NONE]


@dataclass(frozen=True)
class Link:
    """A table to join to the records, the key of the records, and its own key."""

    table: RawTable
    key: str
    its_key: str

    def join(self, gathered: Gathered) -> None:
        """Give each row the columns of the one row of the table that has its key, and note how many
        have one.
        """
        frame = gathered.plain()
        mine = _key_column(frame, self.key, "the records")
        theirs = _key_column(self.table.frame, self.its_key, f"'{self.table.name}'")
        other = self.table.frame.with_columns(
            literal_text(self.table.frame[name]) for name in self.table.literal
        ).drop_nulls(theirs)
        if repeated := other.height - other[theirs].n_unique():
            rows = f"{several(repeated, 'row')} {verb(repeated, 'repeats', 'repeat')}"
            raise DataError(
                f"In '{self.table.name}', {rows} a value of '{theirs}'.",
                "Join by a key that names one row, or remove the other rows.",
            )
        stem = Path(self.table.name).stem
        taken = (set(other.columns) & set(frame.columns)) - {theirs}
        other = other.rename({name: f"{name} ({stem})" for name in taken})
        known = frame.join(other, left_on=mine, right_on=theirs, how="semi").height
        gathered.frame = frame.join(
            other, left_on=mine, right_on=theirs, how="left", maintain_order="left"
        )
        gathered.literal = frozenset()
        matched = f"{several_of(known, frame.height, 'row')} {verb(known, 'has', 'have')} a match"
        gathered.tables[0].notes.append(f"{matched} in '{self.table.name}' (by '{mine}').")


def linked(bundles: Sequence[Bundle], join: str, options: Options) -> Link:
    """The table that `join` ("FILE:KEY" or "FILE:KEY=ITS_KEY") names. FILE is a file of its own, or
    a member of what is imported.
    """
    file, _, keys = join.rpartition(":")
    if not file or not keys:
        raise UsageError(
            f"`join` cannot be '{join}'.", "Write it as FILE:KEY, such as reviews.csv:news_id."
        )
    key, _, its_key = keys.partition("=")
    if Path(file).is_file():
        with Bundle.open(file) as bundle:
            table = read_table(bundle, bundle.names()[0], options, HEADER_WORDS)
        return Link(table, key, its_key or key)
    for bundle in bundles:
        if members := bundle.match(file):
            table = read_table(bundle, members[0], options, HEADER_WORDS)
            return Link(table, key, its_key or key)
    raise DataError(
        f"There is no file '{file}' to join.",
        "Give its path, or its name inside the folder or zip.",
    )


def _key_column(frame: pl.DataFrame, name: str, where: str) -> str:
    folded = fold_name(name)
    alike = [column for column in frame.columns if fold_name(column) == folded]
    if name in frame.columns:
        return name
    if len(alike) != 1:
        raise DataError(
            f"There is no column '{name}' in {where} to join by.",
            f"There are: {', '.join(frame.columns[:12])}.",
        )
    return alike[0]


def join_labels(gathered: Gathered, layouts: Sequence[Layout]) -> Gathered | None:
    """The texts of one layout with the labels of another, where no layout has both and a key links
    them.
    """
    texts = [one for one in layouts if "text" in one.picks and not one.labelled]
    labels = [one for one in layouts if "label" in one.picks]
    if any(one.labelled for one in layouts):
        return None
    for records in texts:
        for other in labels:
            if other is records or _is_more_of_the_same(records, other):
                continue
            key = _shared_key(gathered.plain(), records, other)
            if key is not None:
                return key.join(gathered, records, other)
    return None


def _is_more_of_the_same(records: Layout, other: Layout) -> bool:
    """A test set without labels beside the training set: their ids may be the same numbers."""
    return other.labelled > 0 and records.picks["text"].column in other.columns


@dataclass(frozen=True)
class _Key:
    """The columns of two tables that hold the same keys; `many` is whether the second has several
    rows of one key.
    """

    mine: str
    theirs: str
    shared: int
    many: bool

    def join(self, gathered: Gathered, records: Layout, other: Layout) -> Gathered:
        """The rows of the table that repeats keys, or else of the records, each with the columns of
        the other's row.
        """
        frame = gathered.plain()
        main, beside = (other, records) if self.many else (records, other)
        on, its = (self.theirs, self.mine) if self.many else (self.mine, self.theirs)
        left = _keyed(rows_of(frame, main.tables), main, on)
        right = _keyed(rows_of(frame, beside.tables), beside, its).select(
            KEY, *(c for c in beside.columns if c in frame.columns and c != its)
        )
        taken = {c for c in right.columns if c in main.columns}
        stem = PurePosixPath(beside.names[0]).stem
        right = right.rename({c: f"{c} ({stem})" for c in taken}).drop_nulls(KEY)
        left = left.drop([c for c in right.columns if c in left.columns and c != KEY])
        joined = left.join(right, on=KEY, how="left", maintain_order="left").drop(KEY)
        known = left.join(right, on=KEY, how="semi").height
        rest = part(gathered, main.tables)
        matched = f"{several_of(known, left.height, 'row')} {verb(known, 'has', 'have')} a match"
        rest.tables[0].notes.append(
            f"'{beside.names[0]}' was joined by '{its}': {matched}. `join='none'` reads the files"
            " apart."
        )
        ignored = [name for name in rest.ignored if name not in beside.names]
        return replace(rest, frame=joined, literal=frozenset(), inner=frozenset(), ignored=ignored)


def _shared_key(frame: pl.DataFrame, records: Layout, other: Layout) -> _Key | None:
    """The columns by which each row of the other layout finds its text, the likeliest first."""
    mine, theirs = rows_of(frame, records.tables), rows_of(frame, other.tables)
    links = []
    for one, keys in _keys(mine, records):
        for two, its_keys in _keys(theirs, other):
            same_name = fold_name(one) == fold_name(two) and not one.startswith("column_")
            if not same_name and (_are_numbers(keys) or _are_numbers(its_keys)):
                continue  # two columns of row numbers say nothing
            distinct, its_distinct = keys.n_unique(), its_keys.n_unique()
            unique, its_unique = distinct == keys.len(), its_distinct == its_keys.len()
            shared = keys.unique().filter(keys.unique().is_in(its_keys.implode())).len()
            if (unique or its_unique) and shared >= OVERLAP * min(distinct, its_distinct):
                links.append((same_name, shared, _Key(one, two, shared, not its_unique)))
    return max(links, key=lambda link: link[:2])[2] if links else None


def _keys(rows: pl.DataFrame, layout: Layout) -> Iterable[tuple[str, pl.Series]]:
    """The columns that may be keys: short values, nearly all of them different; and the names of
    files that hold one record each.
    """
    roles = {
        pick.column for role, pick in layout.picks.items() if role in ("text", "label", "date")
    }
    columns = [c for c in layout.columns if c in rows.columns and c not in roles]
    named = [(column, rows[column]) for column in columns]
    if (stems := _stems(rows, layout)) is not None:
        named.append((STEM, stems))
    for name, values in named:
        keys = values.drop_nulls()
        if (
            keys.len() >= max(LEAST, OVERLAP * rows.height)
            and keys.n_unique() >= max(LEAST, keys.len() / MOST_ROWS)
            and not (keys.str.len_chars() > LONGEST).any()
        ):
            yield name, keys


def _stems(rows: pl.DataFrame, layout: Layout) -> pl.Series | None:
    """The name of the file of each row, without folder, where every file holds one record."""
    place = PATH if PATH in rows.columns and rows[PATH].count() else FILE
    if place == FILE and layout.rows != len(layout.tables):
        return None
    return rows[place].str.split("/").list.last().str.replace(r"\.[A-Za-z0-9]{1,5}$", "")


def _keyed(rows: pl.DataFrame, layout: Layout, key: str) -> pl.DataFrame:
    values = _stems(rows, layout) if key == STEM else rows[key]
    return rows.with_columns(pl.Series(KEY, values, dtype=pl.String))


def _are_numbers(keys: pl.Series) -> bool:
    """Whether keys count rows rather than naming them."""
    return bool(keys.str.contains(r"^\d{1,6}$").all())
