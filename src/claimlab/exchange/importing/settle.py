"""Which of several files are the records, where one answer is far ahead: the others are named, not
mixed in.

Tables that belong together: the labels or reviews in one file, the texts in another, joined by a
key that both have.

A link is named by the user (`join`), or found: a column that names one row each of one table, and
of which the other has nearly all values. What was joined is said, with the option that turns it
off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log2
from pathlib import Path, PurePosixPath

import polars as pl

from claimlab.core.errors import Choice, DataError, Question, UsageError
from claimlab.core.labels import LabelMap
from claimlab.core.words import several, several_of, verb
from claimlab.exchange.importing.choose import some_of
from claimlab.exchange.importing.ladder import SHARES, is_ahead
from claimlab.exchange.importing.layouts import (
    FILE,
    LEAST_KEYS,
    PLACES,
    Gathered,
    TableLayout,
    layouts_of,
    part,
    rows_of,
    stem,
    stems,
)
from claimlab.exchange.importing.meanings import MOST_WORD_VALUES, legend_of
from claimlab.exchange.importing.profile import profile
from claimlab.exchange.importing.propose import CLOSE_LOG_ODDS, column_of, propose
from claimlab.exchange.importing.texts import MANY_FILES, PATH
from claimlab.exchange.vocabulary import HEADER_WORDS, fold_name
from claimlab.files.bundle import Bundle
from claimlab.files.layout import ReadOptions
from claimlab.files.raw import RawTable, literal_text, spell_out
from claimlab.files.read import read_table

COPIED_SHARE, KEYS_SHARED = SHARES["copied"], SHARES["keys"]
# files beside a table that may list codes, and its columns
MOST_FILES_BESIDE, MOST_CODE_COLUMNS = 20, 6
NO_JOIN = "none"
KEY_CHARACTERS = 120
MOST_ROWS_OF_KEY = 50
KEY_COLUMN = "key of the link"  # the column to join by, while joining
# a key that is no column: the name of a file, or of the folder of several
FILE_NAME_KEY = "file name"


def settle(
    gathered: Gathered, named: Mapping[str, str], verdicts: LabelMap, *, joins: bool = True
) -> Gathered:
    """`gathered`, or only the part of it that can be the records: a table in two formats is read
    once, labels in a table of their own are joined by their key, and of several layouts the one
    that gives by far the most records with a text and a label is taken.
    """
    if joins and (spelled := _spelled_out(gathered, verdicts)) is not None:
        gathered = spelled
    names = stems(gathered.tables)
    several_files = len(names) > 1 and len(set(names)) == len(names)
    if gathered.chosen or not several_files or FILE not in gathered.frame.columns:
        return gathered
    layouts = layouts_of(gathered, verdicts)
    gathered, layouts = _read_once(gathered, layouts)
    together = join_labels(gathered, layouts) if joins and len(layouts) > 1 else None
    if together is not None:
        return together
    if len(layouts) > 1 and _holds(layouts[0], named):
        gathered = _far_ahead(gathered, layouts)
    _refuse_texts_beside_tables(gathered)
    return _labelled_editions(gathered, named, verdicts)


def _holds(layout: TableLayout, named: Mapping[str, str]) -> bool:
    """Whether the columns that the user named are those of a layout. The answer to a question then
    leaves the same files that the question was about.
    """
    columns = {*layout.columns, *layout.inner, *PLACES, NO_JOIN}
    return columns.issuperset(named[role] for role in ("text", "label") if role in named)


def _spelled_out(gathered: Gathered, verdicts: LabelMap) -> Gathered | None:
    """The tables with the words for codes that a small table or sheet of their own lists. Of
    several columns that these may be the codes of, the one that is named like the list.
    """
    if len(gathered.tables) == 1 and not gathered.tables[0].beside:
        return None
    plain = gathered.plain()
    for name, rows, others in _legends(gathered, plain):
        records = plain if len(others) == len(gathered.tables) else rows_of(plain, others)
        own = _singular(" ".join((name, *rows.columns)))
        tables = {c: legend_of(records[c], _of_column(c, rows), verdicts) for c in records.columns}
        likely = {column: table for column, table in tables.items() if table is not None}
        named = [column for column in likely if _singular(column) & own - {"id"}] or list(likely)
        if len(named) == 1:
            column, table = named[0], likely[named[0]]
            rest = replace(gathered) if records is plain else part(gathered, others)
            rest.ignored = gathered.ignored
            rest.tables[0].notes.append(spell_out(rest, column, table, f"'{name}'"))
            return rest
    return None


def _of_column(column: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a code book that are about one column, where it lists the codes of several."""
    about = next((name for name in rows.columns if (rows[name] == column).any()), None)
    return rows if about is None else rows.filter(pl.col(about) == column).drop(about)


def _singular(name: str) -> set[str]:
    """The words of a name without the s of a plural."""
    return {word.rstrip("s") for word in fold_name(name).split()}


def _legends(
    gathered: Gathered, plain: pl.DataFrame
) -> Iterator[tuple[str, pl.DataFrame, list[RawTable]]]:
    """The small tables and sheets, with their names, and the tables beside each."""
    for table in gathered.tables:
        for title, sheet in table.beside.items():
            yield title, pl.DataFrame(sheet, infer_schema_length=None), gathered.tables
        others = [other for other in gathered.tables if other is not table]
        if not 0 < len(others) <= MOST_FILES_BESIDE or FILE not in plain.columns:
            continue
        shared = [c for c in table.frame.columns if c in plain.columns and c not in PLACES]
        alike = any(set(shared) <= set(other.frame.columns) for other in others)
        if alike or len(shared) > MOST_CODE_COLUMNS:
            continue
        rows = rows_of(plain, [table]).select(shared)
        if 2 <= rows.height <= MOST_WORD_VALUES:
            yield table.name, rows, others


def _refuse_texts_beside_tables(gathered: Gathered) -> None:
    """A table beside hundreds of texts may be about them; which of the two are the records is not
    ours to say.
    """
    names = [table.name for table in gathered.tables]
    if MANY_FILES not in names or len(names) < 2:
        return
    tables = [name for name in names if name != MANY_FILES]
    texts = gathered.frame.filter(pl.col(FILE) == MANY_FILES).height
    beside = f"{several(len(tables), 'table')} ({some_of(tables)})"
    raise Question(
        f"There are {several(texts, 'text')} and {beside}.",
        [
            Choice("only", "*.txt", "the texts are the records"),
            Choice("only", tables[0], "the rows of this table are the records"),
        ],
    )


def _read_once(
    gathered: Gathered, layouts: list[TableLayout]
) -> tuple[Gathered, list[TableLayout]]:
    """Leave out the files with the texts of others in another format, or of the same data before
    it was split.
    """
    originals: list[TableLayout] = []
    notes: list[str] = []
    by_contents = sorted(
        layouts,
        key=lambda other: (
            other.labelled,
            other.splits,
            other.tables[0].layout.header is not False,
            len(other.columns),
            other.suffix,
        ),
        reverse=True,
    )
    for candidate in by_contents:
        copied = next((other for other in originals if _is_copy(candidate, other)), None)
        if copied is None:
            originals.append(candidate)
        else:
            what = "text" if "text" in candidate.picks else "id"
            texts = several(len(candidate.texts), what)
            copy, original = some_of(candidate.names), some_of(copied.names)
            notes.append(f"{copy} not read: the {texts} are those of {original}.")
    if not notes:
        return gathered, layouts
    rest = part(gathered, [table for other in originals for table in other.tables])
    rest.tables[0].notes += notes
    return rest, [other for other in layouts if other in originals]


def _is_copy(layout: TableLayout, other: TableLayout) -> bool:
    shared = len(layout.texts & other.texts)
    whole = shared >= COPIED_SHARE * max(len(layout.texts), len(other.texts), LEAST_KEYS)
    split = other.splits and not layout.splits
    return whole and (layout.form != other.form or split)


def _far_ahead(gathered: Gathered, layouts: Sequence[TableLayout]) -> Gathered:
    """The files of the layout that gives by far the most records with a text and a label, and those
    with more of the same.
    """
    first, *others = layouts
    if not first.labelled:
        return gathered
    rivals = [other for other in others if not other.belongs_to(first)]
    looked_at = sum(layout.rows for layout in layouts)
    unseen = (gathered.frame.height - looked_at) * first.weight
    worths = [_score(worth) for worth in (unseen, *(rival.worth[0] for rival in rivals))]
    if not is_ahead(_score(first.worth[0]), worths, "layout"):
        return gathered
    left_out = {id(table) for rival in rivals for table in rival.tables}
    return (
        part(gathered, [t for t in gathered.tables if id(t) not in left_out])
        if rivals
        else gathered
    )


def _score(worth: float) -> float:
    """What a layout would give, as a score: one more is twice as many records."""
    return log2(worth) if worth > 0 else float("-inf")


def _labelled_editions(
    gathered: Gathered, named: Mapping[str, str], verdicts: LabelMap
) -> Gathered:
    """All files but those without a label whose texts occur, labelled, in others: a test set before
    its labels.
    """
    seen = profile(gathered.plain(), verdicts, gathered.hidden(named))
    picks = propose(seen, named, gathered.inner)
    text, label = column_of(picks, "text"), column_of(picks, "label")
    if text is None or label is None or len(gathered.tables) < 2:
        return gathered
    has_label = pl.col(label).is_not_null().alias("known")
    rows = gathered.frame.select(FILE, text, has_label).drop_nulls(text)
    bare = rows.group_by(FILE).agg(pl.col("known").any()).filter(~pl.col("known")).select(FILE)
    if not bare.height:
        return gathered
    labelled = rows.filter("known").select(text).unique()
    is_labelled = pl.col(text).is_in(labelled[text].implode())
    shares = rows.join(bare, on=FILE, how="semi").group_by(FILE).agg(held=is_labelled.mean())
    left_out = set(shares.filter(pl.col("held") >= COPIED_SHARE)[FILE])
    others = [table for table in gathered.tables if stem(table) not in left_out]
    return part(gathered, others) if left_out else gathered


def turned_off(join: Sequence[str]) -> bool:
    return [words.lower() for words in join] == [NO_JOIN]


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
        key = _key_column(frame, self.key, "the records")
        its_key = _key_column(self.table.frame, self.its_key, f"'{self.table.name}'")
        other = self.table.frame.with_columns(
            literal_text(self.table.frame[name]) for name in self.table.literal
        ).drop_nulls(its_key)
        if repeated := other.height - other[its_key].n_unique():
            rows = f"{several(repeated, 'row')} {verb(repeated, 'repeats', 'repeat')}"
            raise DataError(
                f"In '{self.table.name}', {rows} a value of '{its_key}'.",
                "Join by a key that names one row, or remove the other rows.",
            )
        taken = {*other.columns}.intersection(frame.columns) - {its_key}
        gathered.frame, matched = _joined(frame, key, other, its_key, self.table.name, taken)
        gathered.literal = frozenset()
        gathered.tables[0].notes.append(f"{matched} in '{self.table.name}' (by '{key}').")


def _joined(
    left: pl.DataFrame, mine: str, right: pl.DataFrame, theirs: str, file: str, taken: Iterable[str]
) -> tuple[pl.DataFrame, str]:
    """The rows with the columns of another table, those that are `taken` named after its file; and
    how many rows it has."""
    stem = PurePosixPath(file).stem
    right = right.rename({name: f"{name} ({stem})" for name in taken})
    left = left.drop([c for c in right.columns if c in left.columns and c not in (mine, theirs)])
    matches = left.join(right, how="semi", left_on=mine, right_on=theirs).height
    matched = f"{several_of(matches, left.height, 'row')} {verb(matches, 'has', 'have')} a match"
    joined = left.join(right, how="left", left_on=mine, right_on=theirs, maintain_order="left")
    return joined, matched


def linked(bundles: Sequence[Bundle], join: str, options: ReadOptions) -> Link:
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


def join_labels(gathered: Gathered, layouts: Sequence[TableLayout]) -> Gathered | None:
    """The texts of one layout with the labels of another, where no layout has both and a key links
    them. A note beside a label is no text: one that looks far more like it counts.
    """
    plain = gathered.plain()
    for records in layouts:
        for other in layouts:
            if other is records or not _brings_labels(records, other, layouts):
                continue
            key = _shared_key(plain, records, other)
            if key is not None:
                return key.join(gathered, records, other)
    return None


def _brings_labels(
    records: TableLayout, other: TableLayout, layouts: Sequence[TableLayout]
) -> bool:
    if "text" not in records.picks or records.labelled or "label" not in other.picks:
        return False
    if any(layout.labelled for layout in layouts if layout is not other):
        return False
    return not other.labelled or _likeness(records) > _likeness(other) + CLOSE_LOG_ODDS


def _likeness(layout: TableLayout) -> float:
    """How much the text of a layout looks like one, in log odds."""
    return layout.picks["text"].score or 0.0


@dataclass(frozen=True)
class _Key:
    """The columns of two tables that hold the same keys; `many` is whether the second has several
    rows of one key.
    """

    mine: str
    theirs: str
    shared: int
    many: bool

    def join(self, gathered: Gathered, records: TableLayout, other: TableLayout) -> Gathered:
        """The rows of the table that repeats keys, or else of the records, each with the columns of
        the other's row.
        """
        frame = gathered.plain()
        main, beside = (other, records) if self.many else (records, other)
        on, its = (self.theirs, self.mine) if self.many else (self.mine, self.theirs)
        files = FILE_NAME_KEY in (on, its)
        left = _keyed(rows_of(frame, main.tables), main, on, files=files)
        right = _keyed(rows_of(frame, beside.tables), beside, its, files=files).select(
            KEY_COLUMN,
            *(c for c in [*beside.columns, *beside.inner] if c in frame.columns and c != its),
        )
        taken = {*right.columns}.intersection(main.columns)
        joined, matched = _joined(
            left, KEY_COLUMN, right.drop_nulls(KEY_COLUMN), KEY_COLUMN, beside.names[0], taken
        )
        joined = joined.drop(KEY_COLUMN)
        rest = part(gathered, main.tables)
        rest.tables[0].notes.append(
            f"'{beside.names[0]}' was joined by '{its}': {matched}. `join='none'` reads the files"
            " apart."
        )
        joined_files = set(beside.names)
        ignored = [name for name in rest.ignored if name not in joined_files]
        inner = gathered.inner & set(joined.columns)
        return replace(rest, frame=joined, literal=frozenset(), inner=inner, ignored=ignored)


def _shared_key(frame: pl.DataFrame, records: TableLayout, other: TableLayout) -> _Key | None:
    """The columns by which each row of the other layout finds its text, the likeliest first."""
    mine, theirs = rows_of(frame, records.tables), rows_of(frame, other.tables)
    links = []
    for (one, keys), (two, its_keys) in product(_keys(mine, records), _keys(theirs, other)):
        alike = _alike(one, records, two, other)
        if FILE_NAME_KEY in (one, two):
            keys, its_keys = _file_names(keys), _file_names(its_keys)
        if not alike and (_are_numbers(keys) or _are_numbers(its_keys)):
            continue  # two columns of row numbers say nothing
        distinct, its_distinct = keys.n_unique(), its_keys.n_unique()
        unique, its_unique = distinct == keys.len(), its_distinct == its_keys.len()
        shared = keys.unique().filter(keys.unique().is_in(its_keys.implode())).len()
        if (unique or its_unique) and shared >= KEYS_SHARED * min(distinct, its_distinct):
            links.append((alike, _Key(one, two, shared, not its_unique)))
    return max(links, key=lambda link: (link[0], link[1].shared))[1] if links else None


def _alike(one: str, records: TableLayout, two: str, other: TableLayout) -> int:
    """Whether the names of two columns say that they hold the same keys: 1 for one name, 2 where
    one names the table of the other, as `claim_id` does the `id` of `claims`.
    """
    names = fold_name(one), fold_name(two)
    tables = (fold_name(PurePosixPath(each.names[0]).stem).rstrip("s") for each in (records, other))
    if {f"{table} {name}" for table, name in zip(tables, names, strict=True)} & set(names):
        return 2
    return int(names[0] == names[1] and not one.startswith("column_"))


def _keys(rows: pl.DataFrame, layout: TableLayout) -> Iterable[tuple[str, pl.Series]]:
    """The columns that may be keys: short values, nearly all of them different; and the names of
    files that hold one record each.
    """
    roles = {
        pick.column for role, pick in layout.picks.items() if role in ("text", "label", "date")
    }
    columns = [c for c in layout.columns + layout.inner if c in rows.columns and c not in roles]
    named = [(column, rows[column]) for column in columns]
    if (stems := _stems(rows, layout)) is not None:
        named.append((FILE_NAME_KEY, stems))
    for name, values in named:
        keys = values.drop_nulls()
        if (
            keys.len() >= max(LEAST_KEYS, KEYS_SHARED * rows.height)
            and keys.n_unique() >= max(LEAST_KEYS, keys.len() / MOST_ROWS_OF_KEY)
            and not (keys.str.len_chars() > KEY_CHARACTERS).any()
        ):
            yield name, keys


def _stems(rows: pl.DataFrame, layout: TableLayout) -> pl.Series | None:
    """The name of the file of each row, without folder, where every file holds one record; of
    several files of one name, that of the folder.
    """
    place = PATH if PATH in rows.columns and rows[PATH].count() else FILE
    parts = rows[place].str.split("/")
    if place == FILE and layout.rows != len(layout.tables):
        alike = len(layout.tables) >= LEAST_KEYS and parts.list.last().n_unique() == 1
        return parts.list.get(-2, null_on_oob=True) if alike else None
    return _file_names(parts.list.last())


def _file_names(paths: pl.Series) -> pl.Series:
    """Paths of files without folder and suffix: texts/12.txt -> 12."""
    return paths.str.replace(r"^.*/", "").str.replace(r"\.[A-Za-z][A-Za-z0-9]{0,4}$", "")


def _keyed(rows: pl.DataFrame, layout: TableLayout, key: str, *, files: bool) -> pl.DataFrame:
    values = _stems(rows, layout) if key == FILE_NAME_KEY else rows[key]
    if files and values is not None:
        values = _file_names(values)
    return rows.with_columns(pl.Series(KEY_COLUMN, values, dtype=pl.String))


def _are_numbers(keys: pl.Series) -> bool:
    """Whether keys count rows rather than naming them."""
    return bool(keys.str.contains(r"^\d{1,6}$").all())
