"""What was read of several files, as one table; its layouts, ranked by the records that they would
give; and what the names of files and folders say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import log2
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.labels import LabelMap
from claimlab.core.words import several
from claimlab.exchange.importing.choose import suffix_of
from claimlab.exchange.importing.meanings import verdict_word
from claimlab.exchange.importing.profile import LABEL_VALUES, profile
from claimlab.exchange.importing.propose import Pick, column_of, propose
from claimlab.exchange.importing.ratings import Ratings
from claimlab.exchange.importing.texts import FOLDER, PATH
from claimlab.exchange.vocabulary import SPLITS, fold_name
from claimlab.files.excel import SHEET_COLUMN
from claimlab.files.raw import RawTable, literal_text

FILE = "from_file"  # a column of our own: the file that a row came from
PLACES = (FILE, FOLDER, PATH, SHEET_COLUMN)
LAYOUTS_LOOKED_AT = 12
# of the columns of one layout that another must have, for both to be offered together
SHARE_OF_COLUMNS = 0.8
SHARE_BESIDE_MANY, MANY_FILES = 0.4, 10  # the same, for a file in a folder of as many files or more
LEAST_KEYS = 5  # texts or keys of a file, for it to be compared with others
DISTINCT_KEYS_SHARE = 0.7  # of the keys that differ: with more, each row has its own
SHARE_OF_KEYS = 0.9  # of the keys of comments, that are those of posts
RARE_SHARE = 0.02  # of the rows: a file on its own
POST_CHARACTERS = 200  # characters of a text that counts as one record
_FOLD = re.compile(r"(?i)(?:fold|cv|part|batch)[ _-]?\d{1,3}")  # parts of a cross-validation
_WORD_ENDS = re.compile(r"[\W_]+")
TITLE_WORDS = 4  # words of the name of a folder that is a title rather than a label
COMMENT_WORTH = 0.01  # worth of what was said about records


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
    ratings: Ratings | None = None  # what each of several annotators said
    classes: bool = False  # whether the label is made of a column for each class
    splits: Mapping[str, str] = field(
        default_factory=dict
    )  # of files, as the card of a folder says
    about: Mapping[str, str] = field(default_factory=dict)  # what texts beside the data say

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
class TableLayout:
    """The files of one format with one set of columns, and what these columns would be."""

    columns: list[str]
    tables: list[RawTable]
    rows: int
    picks: Mapping[str, Pick]
    labelled: int = 0  # rows with a text and one of several labels
    length: float = 0.0  # characters of a text, on average
    texts: frozenset[int] = frozenset()  # hashes of the texts, or of labelled ids without any
    about_others: bool = False  # whether its rows are about those of another layout: comments
    more: list[RawTable] = field(default_factory=list)  # files that are like its own
    inner: list[str] = field(default_factory=list)  # columns made of the fields of its objects

    @property
    def worth(self) -> tuple[float, bool, int]:
        """What it would give: records with a text and a label. Long texts count for more than short
        ones, and what was said about records for less than these.
        """
        value = self.labelled * self.weight
        return (
            value * (COMMENT_WORTH if self.about_others else 1.0),
            "text" in self.picks,
            self.rows,
        )

    @property
    def weight(self) -> float:
        """Of one record: 1 for a tweet, 2 for an article; a few characters make no difference."""
        return 2.0 ** round(log2(max(self.length, 1.0) / POST_CHARACTERS) / 2)

    @property
    def names(self) -> list[str]:
        return [table.name for table in self.tables]

    @property
    def suffix(self) -> str:
        return suffix_of(self.tables[0].name)

    @property
    def form(self) -> tuple[str, str | None]:
        """Files of one kind that are cut by one delimiter are in one format."""
        return self.suffix, self.tables[0].layout.delimiter

    @property
    def splits(self) -> bool:
        """Whether the name of every file has a split in it."""
        return all(split_in(name) is not None for name in stems(self.tables))

    def holds(self, columns: Collection[str], tables: Sequence[RawTable]) -> bool:
        """Whether files with these columns are to be read together with the files of this
        layout. Many files in one folder are more likely to belong together.
        """
        text = self.picks.get("text")
        shared = len(set(columns) & set(self.columns))
        folders = {PurePosixPath(name).parent for name in self.names}
        beside = {PurePosixPath(table.name).parent for table in tables} <= folders
        least = SHARE_BESIDE_MANY if beside and len(self.tables) >= MANY_FILES else SHARE_OF_COLUMNS
        alike = shared >= least * max(len(columns), len(self.columns))
        return alike and (text is None or _has(columns, text.column))

    def belongs_to(self, main: TableLayout) -> bool:
        """Whether these are more records of `main`, such as a test set without labels."""
        text = main.picks["text"].column
        known = len(set(self.columns) & set(main.columns))
        cut_alike = _cut(self.tables[0]) == _cut(main.tables[0])
        return (
            cut_alike and _has(self.columns, text) and known >= SHARE_OF_COLUMNS * len(self.columns)
        )

    def describe(self) -> str:
        names = [name if len(name) <= 20 else f"{name[:19]}…" for name in self.columns[:5]]
        more = ", …" if len(self.columns) > 5 else ""
        return f"{several(self.rows, 'row')} with {', '.join(names)}{more}"


def _has(columns: Collection[str], name: str | None) -> bool:
    """Whether one of these columns is meant, or a field of the objects in one of them."""
    return any(name == column or str(name).startswith(f"{column}.") for column in columns)


def layouts_of(gathered: Gathered, verdicts: LabelMap) -> list[TableLayout]:
    """The different sets of columns in each format, those that give most records first; of very
    many sets, those with the most rows.
    """
    plain = gathered.plain()
    heights = dict(plain[FILE].value_counts().iter_rows())
    sets = [
        (columns, alike)
        for columns, tables in by_columns(gathered.tables)
        for alike in _by_suffix(tables)
    ]
    sets.sort(key=lambda pair: sum(heights.get(name, 0) for name in stems(pair[1])), reverse=True)
    out: list[TableLayout] = []
    for columns, tables in sets:
        like = next((layout for layout in out if _is_like(layout, columns, tables)), None)
        if like is not None:
            like.more.extend(tables)
        elif len(out) < LAYOUTS_LOOKED_AT:
            out.append(_layout(plain, columns, tables, verdicts, gathered.inner))
    out = [_with_more(layout, plain, verdicts, gathered.inner) for layout in out]
    marked = [replace(layout, about_others=_about_others(layout, out, plain)) for layout in out]
    return sorted(marked, key=lambda ranked: ranked.worth, reverse=True)


def _with_more(
    layout: TableLayout, plain: pl.DataFrame, verdicts: LabelMap, inner: Collection[str]
) -> TableLayout:
    """A layout with the files that are like its own."""
    if not layout.more:
        return layout
    tables = [*layout.tables, *layout.more]
    columns = dict.fromkeys(name for table in tables for name in _columns_of(table))
    return _layout(plain, list(columns), tables, verdicts, inner)


def _is_like(layout: TableLayout, columns: Collection[str], tables: Sequence[RawTable]) -> bool:
    same = layout.suffix == suffix_of(tables[0].name) and _cut(layout.tables[0]) == _cut(tables[0])
    return same and layout.holds(columns, tables)


def _cut(table: RawTable) -> tuple[str | None, int] | None:
    """What columns without names are known by: numbers alone are the same in every file, and one
    column less moves all others.
    """
    nameless = table.layout.header is False
    return (table.layout.delimiter, len(_columns_of(table))) if nameless else None


def _layout(
    plain: pl.DataFrame,
    columns: list[str],
    tables: list[RawTable],
    verdicts: LabelMap,
    inner: Collection[str],
) -> TableLayout:
    fields = [name for name in plain.columns if name in inner and _has(columns, name)]
    rows = rows_of(plain, tables).select(*(c for c in columns if c in plain.columns), *fields)
    picks = propose(profile(rows, verdicts), {}, fields)
    layout = TableLayout(columns, tables, rows.height, picks, inner=fields)
    text, label, ids = (column_of(picks, role) for role in ("text", "label", "tweet_id"))
    if text is None:
        if ids is None or label is None:
            return layout
        return replace(layout, texts=frozenset(rows[ids].hash(0)))
    texts = rows[text].drop_nulls()
    labelled = 0 if label is None else _labelled(rows.drop_nulls([text, label])[label], verdicts)
    if not labelled and _named(plain, tables, verdicts):
        labelled = texts.len()
    length = texts.str.len_chars().mean()
    return replace(
        layout,
        labelled=labelled,
        length=length if isinstance(length, float) else 0.0,
        texts=frozenset(texts.str.strip_chars().hash(0)),
    )


def _labelled(labels: pl.Series, verdicts: LabelMap) -> int:
    """How many labels there are; none where all are one word that the map does not know."""
    values = labels.unique().head(2)
    return labels.len() if len(values) > 1 or any(map(verdicts.verdict, values)) else 0


def _named(plain: pl.DataFrame, tables: Sequence[RawTable], verdicts: LabelMap) -> bool:
    """Whether the names of the files, or of the folders of texts, are labels."""
    folders = usual_places(rows_of(plain, tables)[FOLDER]) if FOLDER in plain.columns else []
    return any(labels_in(names, verdicts) is not None for names in (stems(tables), folders))


def _by_suffix(tables: Sequence[RawTable]) -> list[list[RawTable]]:
    suffixes: dict[str, list[RawTable]] = {}
    for table in tables:
        suffixes.setdefault(suffix_of(table.name), []).append(table)
    return list(suffixes.values())


def _about_others(layout: TableLayout, others: Sequence[TableLayout], plain: pl.DataFrame) -> bool:
    """Whether each row has the key of a row of another layout, and many have the same: comments
    have the id of their post.
    """
    rows = rows_of(plain, layout.tables)
    for column in layout.columns:
        if column not in plain.columns:
            continue
        keys = rows[column].drop_nulls()
        if not keys.len() or keys.n_unique() > DISTINCT_KEYS_SHARE * keys.len():
            continue
        held = (_unique_keys(other, column, plain) for other in others if other is not layout)
        known = [values for values in held if values is not None]
        if (
            known
            and keys.is_in(pl.concat(known).unique().implode()).sum() >= SHARE_OF_KEYS * keys.len()
        ):
            return True
    return False


def _unique_keys(layout: TableLayout, column: str, plain: pl.DataFrame) -> pl.Series | None:
    """The values of a column that names one row each of a layout."""
    if column not in layout.columns:
        return None
    keys = rows_of(plain, layout.tables)[column].drop_nulls()
    return keys if keys.len() >= LEAST_KEYS and keys.n_unique() == keys.len() else None


def rows_of(frame: pl.DataFrame, tables: Sequence[RawTable]) -> pl.DataFrame:
    return frame.filter(pl.col(FILE).is_in(stems(tables)))


def by_columns(tables: Sequence[RawTable]) -> list[tuple[list[str], list[RawTable]]]:
    """The different sets of columns, without those of our own, and the files that have them, the
    commonest first.
    """
    sets: dict[tuple[object, ...], list[RawTable]] = {}
    for table in tables:
        sets.setdefault((frozenset(_columns_of(table)), _cut(table)), []).append(table)
    return [
        (_columns_of(alike[0]), alike) for alike in sorted(sets.values(), key=len, reverse=True)
    ]


def _columns_of(table: RawTable) -> list[str]:
    return [column for column in table.frame.columns if column not in PLACES]


def part(gathered: Gathered, tables: Sequence[RawTable]) -> Gathered:
    """The rows and columns of some of the tables; the others are reported as files that were not
    read.
    """
    frame = rows_of(gathered.frame, tables)
    filled = {column for table in tables for column in table.frame.columns}
    empty = [name for name in frame.columns if not frame[name].count() and name not in filled]
    taken = set(map(id, tables))
    others = [table.name for table in gathered.tables if id(table) not in taken]
    return replace(
        gathered,
        frame=frame.drop(empty),
        literal=gathered.literal - set(empty),
        inner=gathered.inner - set(empty),
        tables=list(tables),
        ignored=[*others, *gathered.ignored],
    )


def stem(table: RawTable) -> str:
    """What the column of files calls a table."""
    return table.called or _without_suffix(table.name)


@lru_cache(1 << 16)  # thousands of files are asked for again and again
def _without_suffix(name: str) -> str:
    return str(PurePosixPath(name).with_suffix(""))


def stems(tables: Sequence[RawTable]) -> list[str]:
    return [stem(table) for table in tables]


def labels_in(names: Iterable[str], verdicts: LabelMap) -> dict[str, str] | None:
    """The verdict that each name refers to (ClaimFakeCOVID-19 -> Fake), if every name has one and
    they differ.

    The innermost part of the path that says it decides. A word such as "news" says nothing; "fake"
    and "real" do.
    """
    names = list(names)
    words = read_names(names, lambda name: verdict_word(name, verdicts))
    if words is None:
        apart = label_words(names, verdicts)
        words = read_names(names, lambda name: verdict_word(apart[name], verdicts))
    if words is None:
        return None
    exact = {
        name: word
        for name, word in words.items()
        if fold_name(PurePosixPath(name).name) == fold_name(word)
    }
    both = {"true", "false"}
    titles = {n for n in words.keys() - exact.keys() if _is_title(n)}
    if titles and both <= {verdicts.verdict(word) for word in exact.values()}:
        # "Test data - Fake News 2020" beside `Fake` and `Real` is the name of a dataset
        words = {name: word for name, word in words.items() if name not in titles}
    return words if both <= {verdicts.verdict(word) for word in words.values()} else None


def _is_title(name: str) -> bool:
    """Whether the last part of a name is a title of several words rather than a label."""
    return len(fold_name(PurePosixPath(name).name).split()) >= TITLE_WORDS


def split_in(name: str) -> str | None:
    """The split that a file name refers to, or else its folder: multimodal_train -> train; or the
    fold of a cross-validation."""
    if _FOLD.fullmatch(PurePosixPath(name).name):
        return PurePosixPath(name).name
    for part in (PurePosixPath(name).name, PurePosixPath(name).parent.name):
        splits = {SPLITS[word] for word in fold_name(part).split() if word in SPLITS}
        if splits:
            return splits.pop() if len(splits) == 1 else None
    return None


def without_fold(folder: str) -> str:
    """A folder, or the one that it is a fold of."""
    place = PurePosixPath(folder)
    return str(place.parent if _FOLD.fullmatch(place.name) else place)


def read_names(names: Iterable[str], tell: Callable[[str], str | None]) -> dict[str, str] | None:
    """What each name says; null unless every one says something and they differ."""
    table = {name: tell(name) for name in names}
    words = {name: word for name, word in table.items() if word is not None}
    return words if len(words) == len(table) and len(set(words.values())) > 1 else None


def usual_places(places: pl.Series) -> list[str]:
    """The files or folders of nearly all rows: a note that lies beside the folders of the labels
    does not count.
    """
    counts = places.drop_nulls().alias("place").value_counts(name="n").sort("place")
    several_rows = counts.filter(pl.col("n") > 1)
    alone = counts.height - several_rows.height
    return (counts if alone > RARE_SHARE * places.len() else several_rows)["place"].to_list()


def leaves(names: Iterable[str]) -> dict[str, str]:
    """The last part of each name: what a folder itself is called; or of many names, as of a file
    for each record, the nearest of their folders that differ and of which there are a few.
    """
    paths = {name: PurePosixPath(name) for name in names}
    ends = {name: path.name for name, path in paths.items()}
    folds = all(_FOLD.fullmatch(end) for end in ends.values())
    if (1 < len(set(ends.values())) <= LABEL_VALUES and not folds) or not paths:
        return ends
    nearest = 2 if one_in_each(paths) is None else 3
    for place in range(nearest, min(len(path.parts) for path in paths.values()) + 1):
        folders = {name: path.parts[-place] for name, path in paths.items()}
        if 1 < len(set(folders.values())) <= LABEL_VALUES:
            return folders
    return ends


def one_in_each(names: Iterable[str]) -> str | None:
    """The folder of which many folders have one, with a single file in it, beside others: the
    `source` of each thread beside its `replies`.
    """
    folders = [PurePosixPath(name).parent for name in names]
    files = Counter(folder.name for folder in folders)
    holders = Counter(folder.name for folder in set(folders))
    alone = (name for name, n in files.items() if LABEL_VALUES < n == holders[name])
    return next(alone, None) if 1 < len(files) <= LABEL_VALUES else None


def label_words(names: Iterable[str], verdicts: LabelMap) -> dict[str, str]:
    """The last part of each name without what it has in common with others: words for splits
    (train_fake, test_fake), and where a name has words for two verdicts (misinfo_true), those that
    most names have.
    """
    ends = leaves(names)
    words = {end: tuple(_WORD_ENDS.split(end)) for end in ends.values()}
    apart = {end: _without(words_of_end, SPLITS) for end, words_of_end in words.items()}
    kinds = set(apart.values())
    parts = apart if 1 < len(kinds) < len(words) and () not in kinds else words
    verdicts_in = (
        set(map(verdicts.verdict, words_of_end)) - {None} for words_of_end in parts.values()
    )
    if max(map(len, verdicts_in), default=0) > 1:
        counts = Counter(word for words_of_end in set(parts.values()) for word in {*words_of_end})
        usual = {word.lower() for word, n in counts.items() if 2 * n > len(parts)}
        parts = {
            end: _without(words_of_end, usual) or words_of_end
            for end, words_of_end in parts.items()
        }
    return {name: end if parts is words else "_".join(parts[end]) for name, end in ends.items()}


def _without(words: Iterable[str], others: Collection[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word.lower() not in others)
