"""Plain datasets: a card says which files hold the records, and which of their columns is what.

    [variants.statements.table]
    files = ["river-claims.csv", "*.csv"]   # the first pattern that matches anything
    id = "number"
    text = ["statement", "claim"]           # a column, under any of the names it has in copies
    label = "rating"
    date = [{ column = "day", formats = ["%d/%m/%Y"] }]
    meta = ["page"]

One function reads them all; a dataset that needs more than this has a reader of its own in
`catalog/readers/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated, Literal

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from claimlab.catalog.columns import (
    answers,
    dated,
    host,
    languages,
    numbered,
    post_or_id,
    repeated,
    title_and_body,
    unique_ids,
    utc,
)
from claimlab.catalog.entry import Loaded
from claimlab.catalog.table import AS_PUBLISHED, Table, first_matched, western_text
from claimlab.core.errors import UnreadableFile
from claimlab.core.languages import normalise
from claimlab.core.record import SCHEMA, meta_column
from claimlab.core.words import several
from claimlab.files.bundle import Bundle
from claimlab.text.snowflake import tweet_time

PLAIN_COLUMNS = ("id", "text", "tweet_id", "author", "source", "url", "topic", "group", "split")
KEY = "key of the join"
NOT_HERE = "Not among these files: {}."


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _spelt(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _by_name(value: object) -> object:
    return {name: name for name in value} if isinstance(value, list) else value


Spellings = Annotated[tuple[str, ...], BeforeValidator(_spelt)]


class ColumnSource(Closed):
    """A column of the file, and what is made of its cells.

    Written short, it is the column's name or a list of its spellings. Of `extract`, a regular
    expression, the first group is kept; `values` puts words for codes; `host` keeps the host of an
    address; `prefix` goes in front, and may name what is fixed for the part ("{split}-"). Where
    nothing is left, `otherwise` is taken.
    """

    column: Spellings
    extract: str | None = None
    values: dict[str, str] = {}
    host: bool = False
    prefix: str = ""
    otherwise: ColumnSource | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: object) -> object:
        return {"column": value} if isinstance(value, str | list) else value

    def series(self, file: Table, fixed: Mapping[str, str], *, needed: bool = False) -> pl.Series:
        cells = file.need(*self.column) if needed else file.maybe(*self.column)
        if self.extract:
            cells = cells.str.extract(self.extract)
        if self.values:
            cells = cells.replace(self.values)
        if self.host:
            cells = pl.select(host(pl.lit(cells))).to_series()
        if self.prefix:
            cells = self.prefix.format_map(fixed) + cells
        return cells.fill_null(self.otherwise.series(file, fixed)) if self.otherwise else cells


Columns = Annotated[dict[str, Spellings], BeforeValidator(_by_name)]


class DateColumn(Closed):
    """A column of dates, the formats of this file (for `strptime`), and what `date_source` calls
    it.
    """

    column: Spellings
    formats: tuple[str, ...] = ()
    source: str | None = None


class FilesPart(Closed):
    """Files that belong together, such as those of one split, and what all their records share.
    A part may be absent, which is said, unless its records share a label.

    `in_name` is a regular expression on the path of a file. Its named groups say what the records
    of that file share ("(?P<language>[a-z]+)"), and a file that it does not match is left out.
    Where the title of an article is in a file of its own, `titles` are those files: each has the
    name of its article. `twin` ends the name of a fuller copy ("_gold"), which takes its place.
    """

    files: tuple[str, ...]
    titles: tuple[str, ...] = ()
    fixed: dict[str, str] = {}
    in_name: str | None = None
    twin: str | None = None

    def shared(self, name: str) -> dict[str, str] | None:
        """What the records of a file share; null for a file that is left out."""
        if self.in_name is None:
            return self.fixed
        match = re.search(self.in_name, name)
        if match is None:
            return None
        values = {key: value for key, value in match.groupdict().items() if value is not None}
        if "language" in values:
            values["language"] = normalise(values["language"]) or values["language"]
        if "split" in values:
            values["split"] = values["split"].replace("_", "-")
        return values | self.fixed


class Join(Closed):
    """A file beside, with a row for each value of `on`, which it has in the column `key`. Its
    columns are read as "NAME.COLUMN".
    """

    name: str
    files: tuple[str, ...]
    on: ColumnSource
    key: Spellings
    absent: str | None = None  # a note where the file is not there; without it, it must be


class EvidenceColumns(Closed):
    """A piece of evidence for each record; `record` takes columns that the record has."""

    ending: str  # of its id, which starts with the record's
    columns: dict[str, ColumnSource] = {}
    record: dict[str, str] = {}
    fixed: dict[str, str] = {}
    meta: Columns = {}
    unless_null: tuple[str, ...] = ()  # left out where all of these are missing


class PlainTable(Closed):
    """The records of a dataset, from one file or from several that are laid out alike.

    The columns of `text`, `label` and `tweet_id` must be there where they are named, those of the
    others may be absent: `needed` and `optional` say otherwise. Where no dates are named they are
    those of the tweet ids. Labels that a spreadsheet made floats ("1.0") are whole numbers again.
    """

    files: tuple[str, ...] = ()
    every: bool = False  # all files that the first fitting pattern matches, not one
    parts: tuple[FilesPart, ...] = ()
    join: Join | None = None
    articles: bool = False  # a text file for each record: columns `stem`, `title` and `text`
    delimiter: str | None = None
    quoted: bool | Literal["by evidence"] = True
    header: tuple[str, ...] | None = None  # the columns of a file that does not name them
    western: bool = False
    blank: tuple[str, ...] = ()  # what stands for an empty cell
    id: ColumnSource | None = None
    id_unique: bool = False  # the ids of the file are, or it is not the published one
    id_digits: int = 6  # of numbers that are given where the file has no ids
    text: ColumnSource | None = None
    title: ColumnSource | None = None
    kind: str = "claim"  # of a record with a text; one without is an id alone
    label: ColumnSource | None = None
    language: ColumnSource | None = None
    date: tuple[DateColumn, ...] = ()
    sent: bool = False  # a tweet without a date in writing has that of its id
    tweet_id: ColumnSource | None = None
    author: ColumnSource | None = None
    source: ColumnSource | None = None
    url: ColumnSource | None = None
    topic: ColumnSource | None = None
    group: ColumnSource | None = None
    split: ColumnSource | None = None
    same_text: bool = False  # rows that say the same are a group
    meta: Columns = {}
    rows_in_meta: bool = False  # the row of the file, from 0
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    answers: dict[str, str] = {}  # column of people's answers -> question
    evidence: EvidenceColumns | None = None
    only: dict[str, str] = {}  # the records that have these values, where the file has any
    not_told: str | None = None  # a note where it has none
    notes: tuple[str, ...] = ()  # "{records}" is their number
    unlabelled: str | None = None  # a note on rows without a label, where there are any


def read_plain(bundle: Bundle, dataset: str, plan: PlainTable) -> Loaded:
    """The records of `dataset` as `plan` says, with the side tables that it names."""
    files = _files(bundle, plan)
    rows = pl.concat([_rows(file, fixed, plan) for file, fixed in files])
    has_values = all(rows[column].count() for column in plan.only)
    rows = rows.filter(**plan.only) if plan.only and has_values else rows
    rows = rows.with_columns(_ids(rows, dataset, plan))
    if plan.same_text:
        rows = rows.with_columns(repeated(rows["text"], rows["id"]))
    records = rows.select(name for name in rows.columns if " " not in name)
    notes = [*plan.notes]
    if plan.not_told and not has_values:
        notes.append(plan.not_told)
    notes += _notes(bundle, plan, records, sum(file.quotes_are_text for file, _ in files))
    sentences = [note.format(records=f"{records.height:,}") for note in notes]
    return Loaded(records, _tables(rows, plan), sentences)


def _notes(bundle: Bundle, plan: PlainTable, records: pl.DataFrame, loose: int) -> Iterator[str]:
    """What is absent: parts, a file to join, labels, quotes around cells (in `loose` files)."""
    absent = [part.files[0] for part in plan.parts if not bundle.match(*part.files)]
    if absent:
        yield NOT_HERE.format(", ".join(absent))
    if plan.join and plan.join.absent and not bundle.match(*plan.join.files):
        yield plan.join.absent
    bare = records["label_raw"].null_count()
    if plan.unlabelled and bare:
        yield f"{several(bare, 'row')} without a label: {plan.unlabelled}"
    if loose:
        yield f"{several(loose, 'file')} in which quotes are text, not marks around cells."


def _files(bundle: Bundle, plan: PlainTable) -> list[tuple[Table, dict[str, str]]]:
    """Each file with what is fixed for its records."""
    parts = plan.parts or (FilesPart(files=plan.files),)
    files = [file for part in parts for file in _of_part(bundle, part, plan)]
    if not files:
        wanted = [pattern for part in parts for pattern in part.files]
        bundle.one(*(wanted[-1:] if plan.every else wanted))  # raises where there is none
        raise UnreadableFile(
            f"No file of '{bundle.path.name}' has the name of a published one.", AS_PUBLISHED
        )
    return files


def _of_part(
    bundle: Bundle, part: FilesPart, plan: PlainTable
) -> Iterator[tuple[Table, dict[str, str]]]:
    names = first_matched(bundle, part.files)
    if "label_raw" in part.fixed:
        try:
            bundle.one(*part.files)
        except UnreadableFile as error:
            all_labels = "Give the files of all labels: one folder per label, or one file."
            raise UnreadableFile(error.problem, all_labels) from None
    if plan.articles and names:
        yield _articles(bundle, part, names), part.fixed
        return
    if plan.every:
        stems = {name: PurePosixPath(name).stem for name in names}
        names = [name for name in names if f"{stems[name]}{part.twin}" not in stems.values()]
    for name in names if plan.every or part.in_name else names[:1]:
        shared = part.shared(name)
        if shared is not None:
            yield _table(bundle, name, plan), shared


def _table(bundle: Bundle, name: str, plan: PlainTable) -> Table:
    table = Table.read(
        bundle,
        name,
        delimiter=plan.delimiter,
        quoted=None if plan.quoted == "by evidence" else plan.quoted,
        columns=plan.header,
        western=plan.western,
    )
    if plan.blank:
        blank = pl.col(pl.String).replace(plan.blank, None)
        table = replace(table, frame=table.frame.with_columns(blank))
    return _joined(bundle, table, plan.join) if plan.join else table


def _joined(bundle: Bundle, table: Table, join: Join) -> Table:
    names = first_matched(bundle, join.files)
    if not names and join.absent:
        return table
    other = Table.read(bundle, names[0] if names else bundle.one(*join.files))
    beside = other.frame.select(
        pl.all().name.prefix(f"{join.name}."), other.need(*join.key).alias(KEY)
    )
    own = table.frame.with_columns(join.on.series(table, {}, needed=True).alias(KEY))
    once = beside.unique(KEY, keep="first")
    return replace(table, frame=own.join(once, on=KEY, how="left", maintain_order="left"))


def _articles(bundle: Bundle, part: FilesPart, names: Sequence[str]) -> Table:
    """Articles kept as a text file each: the first line is the title where more follows it."""
    titles = {PurePosixPath(name).name: name for name in bundle.match(*part.titles)}
    rows = []
    for name in names:
        path, text = PurePosixPath(name), article_text(bundle, name)
        title = article_text(bundle, titles[path.name]) if path.name in titles else None
        head, _, body = text.partition("\n")
        if not part.titles and body.strip():
            title, text = head.strip(), body.strip()
        rows.append((path.stem, title, text))
    columns = dict.fromkeys(("stem", "title", "text"), pl.String)
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return Table(names[0], frame.with_columns(pl.lit(v).alias(n) for n, v in part.fixed.items()))


def article_text(bundle: Bundle, name: str) -> str:
    return western_text(bundle, name).replace("\r\n", "\n").strip().lstrip("\ufeff")


def _rows(file: Table, fixed: Mapping[str, str], plan: PlainTable) -> pl.DataFrame:
    """The columns of a record; those of side tables have a space in their name."""
    needed = {"text", "label", "tweet_id", *plan.needed} - set(plan.optional)

    def column(name: str) -> pl.Series:
        source: ColumnSource | None = getattr(plan, name)
        return source.series(file, fixed, needed=name in needed) if source else file.maybe()

    columns = {name: column(name) for name in PLAIN_COLUMNS}
    meta = file.pick((), plan.meta)
    numbered_meta = meta.with_row_index("row") if plan.rows_in_meta else meta
    texts = columns["text"]
    texts = title_and_body(column("title"), texts) if plan.title else texts
    columns |= {
        "text": texts,
        "kind": post_or_id(texts).replace("post", plan.kind),
        "label_raw": column("label").str.strip_suffix(".0"),
        "meta": meta_column(numbered_meta, numbered_meta.columns) if plan.meta else file.maybe(),
        **_dates(file, plan, columns["tweet_id"]),
        **{f"answer {name}": file.need(name) for name in plan.answers},
    }
    if plan.language:
        columns["language"] = languages(column("language"))
    if plan.evidence is not None:
        own = {name: each.series(file, fixed) for name, each in plan.evidence.columns.items()}
        own["meta"] = file.meta(plan.evidence.meta)
        columns |= {f"evidence {name}": values for name, values in own.items()}
    constants = {name: pl.lit(value) for name, value in fixed.items() if name in SCHEMA}
    return file.frame.select(**columns).with_columns(**constants)


def _dates(file: Table, plan: PlainTable, tweets: pl.Series) -> dict[str, pl.Series]:
    written = [file.maybe(*dates.column) for dates in plan.date]
    readings = {
        dates.source or f"{dates.column[0]} column": utc(texts, *dates.formats)
        for dates, texts in zip(plan.date, written, strict=True)
    }
    if plan.sent or not plan.date:
        readings["snowflake id"] = tweet_time(tweets)
    return dated(readings, written=pl.select(pl.coalesce(*written, file.maybe())).to_series())


def _ids(rows: pl.DataFrame, dataset: str, plan: PlainTable) -> pl.Series:
    if plan.id is None:
        return numbered(dataset, rows.height, plan.id_digits)
    if plan.id_unique:
        return (f"{dataset}-" + rows["id"]).alias("id")
    return unique_ids(dataset, rows["id"])


def _tables(rows: pl.DataFrame, plan: PlainTable) -> dict[str, pl.DataFrame]:
    tables = {}
    if plan.answers:
        questions = {f"answer {column}": question for column, question in plan.answers.items()}
        tables["annotations"] = answers(rows, questions)
    if plan.evidence is not None:
        tables["evidence"] = _evidence(rows, plan.evidence)
    return tables


def _evidence(rows: pl.DataFrame, plan: EvidenceColumns) -> pl.DataFrame:
    own = {name.split(" ")[1]: name for name in rows.columns if name.startswith("evidence ")}
    table = rows.select(
        record_id="id",
        evidence_id=pl.col("id") + f"-{plan.ending}",
        rank=pl.lit(1),
        **plan.record,
        **own,
        **{name: pl.lit(value) for name, value in plan.fixed.items()},
    )
    if plan.unless_null:
        table = table.filter(pl.any_horizontal(pl.col(plan.unless_null).is_not_null()))
    return table
