"""What was read of several files, as one table, and which of the files are the records, where only
one answer is left: the others are named, not mixed in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.labels import LabelMap
from claimlab.core.words import several
from claimlab.exchange.importing.profile import profile
from claimlab.exchange.importing.propose import Pick, propose
from claimlab.exchange.importing.texts import FOLDER, PATH
from claimlab.exchange.vocabulary import SPLITS, fold_name
from claimlab.files.excel import SHEET
from claimlab.files.raw import RawTable, literal_text

FILE = "from_file"  # a column of our own: the file that a row came from
PLACES = (FILE, FOLDER, PATH, SHEET)
LOOKED_AT = 12  # layouts
ALIKE = 0.8  # of the columns of one layout that another must have, for both to be offered together
SAME = 0.95  # of the texts of a file without labels, that files with labels hold too


@dataclass
class Gathered:
    """`tables` keeps each file's layout, columns and refusals; its rows are in `frame`."""

    frame: pl.DataFrame
    literal: frozenset[str]
    tables: list[RawTable]
    inputs: dict[str, str]
    ignored: list[str] = field(default_factory=list)
    chosen: bool = False  # whether the user said which files to read
    inner: frozenset[str] = frozenset()  # columns made of the fields of objects in others

    @property
    def rows_read(self) -> int:
        return self.frame.height + sum(t.refused.total for t in self.tables)

    def text(self, column: str) -> pl.Series:
        """One column as plain text, JSON values too."""
        values = self.frame[column]
        return literal_text(values) if column in self.literal else values

    def plain(self) -> pl.DataFrame:
        """The rows with every column as plain text."""
        return self.frame.with_columns(map(self.text, self.literal & set(self.frame.columns)))

    def hidden(self, named: Mapping[str, str]) -> frozenset[str]:
        """The columns of our own that no role may take, unless the user named them."""
        return frozenset(PLACES) - {PATH, *named.values()}

    def describe(self) -> str:
        """'a.csv' (CSV, utf-8, comma, header), or how many files and in which layouts."""
        words = list(dict.fromkeys(t.layout.describe() for t in self.tables))
        what = f"'{self.tables[0].name}'" if len(self.tables) == 1 else f"{len(self.tables)} files"
        return f"{what} ({' | '.join(words[:6])}{' | …' if len(words) > 6 else ''})"


@dataclass(frozen=True)
class Layout:
    """The files with one set of columns, and what these columns would be."""

    columns: list[str]
    tables: list[RawTable]
    rows: int
    picks: Mapping[str, Pick]
    named: bool = False  # whether the names of the files give the label

    @property
    def score(self) -> tuple[bool, bool, int]:
        return ("text" in self.picks, "label" in self.picks or self.named, self.rows)

    def holds(self, columns: Collection[str]) -> bool:
        """Whether files with these columns are to be read together with the files of this
        layout.
        """
        text = self.picks.get("text")
        shared = len(set(columns) & set(self.columns))
        alike = shared >= ALIKE * max(len(columns), len(self.columns))
        return alike and (text is None or text.column in columns)

    def describe(self) -> str:
        more = ", …" if len(self.columns) > 5 else ""
        return f"{several(self.rows, 'row')} with {', '.join(self.columns[:5])}{more}"


def layouts_of(gathered: Gathered, verdicts: LabelMap) -> list[Layout]:
    """The different sets of columns, those that look most like records (a text and a label)
    first.
    """
    plain = gathered.plain()
    out: list[Layout] = []
    for columns, tables in by_columns(gathered.tables)[:LOOKED_AT]:
        like = next((i for i, other in enumerate(out) if other.holds(columns)), None)
        if like is not None:
            columns = list(dict.fromkeys([*out[like].columns, *columns]))
            tables = [*out.pop(like).tables, *tables]
        rows = plain.filter(pl.col(FILE).is_in(stems(tables))).select(
            c for c in columns if c in plain.columns
        )
        named = len(tables) > 1 and labels_in(stems(tables), verdicts) is not None
        picks = propose(profile(rows, verdicts), {})
        out.append(Layout(columns, tables, rows.height, picks, named))
    return sorted(out, key=lambda layout: layout.score, reverse=True)


def by_columns(tables: Sequence[RawTable]) -> list[tuple[list[str], list[RawTable]]]:
    """The different sets of columns, without those of our own, and the files that have them, the
    commonest first.
    """
    sets: dict[frozenset[str], list[RawTable]] = {}
    for table in tables:
        sets.setdefault(frozenset(_columns_of(table)), []).append(table)
    return [
        (_columns_of(alike[0]), alike) for alike in sorted(sets.values(), key=len, reverse=True)
    ]


def _columns_of(table: RawTable) -> list[str]:
    return [column for column in table.frame.columns if column not in PLACES]


def settle(gathered: Gathered, named: Mapping[str, str], verdicts: LabelMap) -> Gathered:
    """`gathered`, or only the part of it that can be the records."""
    names = stems(gathered.tables)
    several_files = len(names) > 1 and len(set(names)) == len(names)
    if gathered.chosen or not several_files or FILE not in gathered.frame.columns:
        return gathered
    if not {"text", "label"} & named.keys():
        gathered = _only_labelled(gathered, verdicts)
    return _labelled_editions(gathered, named, verdicts)


def _only_labelled(gathered: Gathered, verdicts: LabelMap) -> Gathered:
    """The files with a text and a label, where no others have a label and they hold most of the
    rows with a text.
    """
    if not 2 <= len(by_columns(gathered.tables)) <= LOOKED_AT:
        return gathered
    first, *others = layouts_of(gathered, verdicts)
    if not {"text", "label"} <= set(first.picks):
        return gathered
    alike = {first.picks["text"].column, first.picks["label"].column}
    rivals = any("label" in other.picks or alike & set(other.columns) for other in others)
    prose = sum(other.rows for other in others if "text" in other.picks)
    return gathered if rivals or prose > first.rows else part(gathered, first.tables)


def _labelled_editions(
    gathered: Gathered, named: Mapping[str, str], verdicts: LabelMap
) -> Gathered:
    """All files but those without a label whose texts occur, labelled, in others: a test set before
    its labels.
    """
    seen = profile(gathered.plain(), verdicts, gathered.hidden(named))
    picks = propose(seen, named, gathered.inner)
    text, label = (picks[role].column if role in picks else None for role in ("text", "label"))
    if text is None or label is None or len(gathered.tables) < 2:
        return gathered
    known = pl.col(label).is_not_null().alias("known")
    rows = gathered.frame.select(FILE, text, known).drop_nulls(text)
    bare = rows.group_by(FILE).agg(pl.col("known").any()).filter(~pl.col("known")).select(FILE)
    if not bare.height:
        return gathered
    labelled = rows.filter("known").select(text).unique()
    held = pl.col(text).is_in(labelled[text].implode())
    shares = rows.join(bare, on=FILE, how="semi").group_by(FILE).agg(held.mean().alias("held"))
    left_out = set(shares.filter(pl.col("held") >= SAME)[FILE])
    others = [table for table in gathered.tables if stem(table) not in left_out]
    return part(gathered, others) if left_out else gathered


def part(gathered: Gathered, tables: Sequence[RawTable]) -> Gathered:
    """The rows and columns of some of the tables; the others are reported as files that were not
    read.
    """
    frame = gathered.frame.filter(pl.col(FILE).is_in(stems(tables)))
    held = {column for table in tables for column in table.frame.columns}
    empty = [name for name in frame.columns if not frame[name].count() and name not in held]
    others = [table.name for table in gathered.tables if table not in tables]
    return replace(
        gathered,
        frame=frame.drop(empty),
        literal=gathered.literal - set(empty),
        inner=gathered.inner - set(empty),
        tables=list(tables),
        ignored=[*others, *gathered.ignored],
    )


def stem(table: RawTable) -> str:
    return str(PurePosixPath(table.name).with_suffix(""))


def stems(tables: Sequence[RawTable]) -> list[str]:
    return [stem(table) for table in tables]


def labels_in(names: Iterable[str], verdicts: LabelMap) -> dict[str, str] | None:
    """The verdict that each name refers to (ClaimFakeCOVID-19 -> Fake), if every name has one and
    they differ.

    The innermost part of the path that says it decides. A word such as "news" says nothing; "fake"
    and "real" do.
    """
    words = read_names(names, lambda name: _verdict_word(name, verdicts))
    if words is None:
        return None
    known = {verdicts.verdict(word) for word in words.values()}
    return words if {"true", "false"} <= known else None


def _verdict_word(name: str, verdicts: LabelMap) -> str | None:
    for part in reversed(PurePosixPath(name).parts):
        if verdicts.verdict(part) is not None:
            return part
        words = [w for w in fold_name(part).split() if verdicts.verdict(w) is not None]
        if len({verdicts.verdict(w) for w in words}) == 1:
            return words[0]
    return None


def split_in(name: str) -> str | None:
    """The split that a file name refers to, or else its folder: multimodal_train -> train."""
    for part in (PurePosixPath(name).name, PurePosixPath(name).parent.name):
        splits = {SPLITS[word] for word in fold_name(part).split() if word in SPLITS}
        if splits:
            return splits.pop() if len(splits) == 1 else None
    return None


def read_names(names: Iterable[str], tell: Callable[[str], str | None]) -> dict[str, str] | None:
    """What each name says; null unless every one says something and they differ."""
    table = {name: tell(name) for name in names}
    words = {name: word for name, word in table.items() if word is not None}
    return words if len(words) == len(table) and len(set(words.values())) > 1 else None


def leaves(names: Iterable[str]) -> dict[str, str]:
    """The last part of each name: what a folder itself is called."""
    return {name: PurePosixPath(name).name for name in names}
