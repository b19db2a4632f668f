"""What a folder that claimlab wrote holds: a dataset or a run with its counts, tables, lineage and
first records, or, briefly, a report or an export. `verify` compares every file with the hash that
was stored when it was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import polars as pl

from claimlab.core.atomic import atomic_text
from claimlab.core.call import in_storage
from claimlab.core.choices import each_of
from claimlab.core.dataset import Dataset, Lineage, belonging, read_manifest
from claimlab.core.digest import digest_file
from claimlab.core.edits import accept_edits as accept
from claimlab.core.errors import FileChanged, SchemaError, UsageError, check_name
from claimlab.core.facts import date_range, facts, value_counts
from claimlab.core.guard import DATASET, foreign_files, kind_of, refuse_file
from claimlab.core.options import Argument, Option, Place
from claimlab.core.remote import send
from claimlab.core.run import Source
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import Blocks, Column, Columns, Items, Report, Section, Table, Text
from claimlab.pages.dossier import TITLE
from claimlab.pages.dossier import dossier as dossier_of
from claimlab.pages.html import to_html
from claimlab.pages.selection import queried, select

FIELDS = ("id", "veracity", "language", "split", "text")
RUN = "run"  # a dataset with predictions
ROWS_SHOWN = 20  # of a side table that are listed
VALUES_SHOWN = 40  # of a column that are listed
FILES_NAMED = 12
LINE_CHARACTERS = 90  # characters of a line of lineage
SIDE: Columns[tuple[str, pl.DataFrame]] = (
    Column("table", 0),
    Column("rows", lambda side: side[1].height),
    Column("columns", lambda side: ", ".join(side[1].columns)),
)
STEP: Columns[tuple[int, Lineage]] = (
    Column("no.", 0),
    Column("step", lambda numbered: numbered[1].step),
    Column("what", lambda numbered: _short(numbered[1])),
    Column("tool", lambda numbered: numbered[1].tool),
)


@dataclass(frozen=True, repr=False)
class Folder(Shown):
    """What was found in one folder. `files` are its files; those in `foreign` claimlab did not
    write.
    """

    name: str
    kind: str
    path: Path | None
    dataset: Dataset | None = None
    records: pl.DataFrame = field(default_factory=pl.DataFrame)  # the first ones
    files: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    matches: int | None = None  # records that were asked for, where not all of them were
    column: str | None = None  # the column whose values are shown
    values: Mapping[str, int] = field(
        default_factory=dict
    )  # of that column, and how often each occurs
    whole: bool = False  # whether every field of the records is shown
    sides: Mapping[str, pl.DataFrame] = field(
        default_factory=dict
    )  # what side tables say of whole records
    answer: pl.DataFrame | None = None  # the first rows of a query
    dossier: Report | None = None  # of the one record

    @property
    def table(self) -> pl.DataFrame:
        """The first records of a dataset, the rows of a query, or the files of another folder."""
        if self.answer is not None:
            return self.answer
        return pl.DataFrame({"file": self.files}) if self.dataset is None else self.records

    def headline(self) -> str:
        if self.dataset is None:
            return f"'{self.name}': a claimlab {self.kind}, {several(len(self.files), 'file')}"
        note = ", synthetic" if self.dataset.synthetic else ""
        return f"'{self.name}': a {self.kind} of {several(len(self.dataset), 'record')}{note}"

    def to_json(self) -> JsonObject:
        content: JsonObject = {
            "name": self.name,
            "kind": self.kind,
            "path": self.path and str(self.path),
        }
        if self.dataset is None:
            return {**content, "files": list(self.files), "foreign": list(self.foreign)}
        if self.answer is not None:
            return {**content, "rows": self.answer.to_dicts()}
        manifest = self.dataset.manifest()
        about = manifest.model_dump(
            include={"card", "licence", "synthetic", "counts", "files", "lineage", "notes"}
        )
        rows = self.records.to_dicts()
        content |= {
            **about,
            "dates": date_range(self.dataset.records),
            "foreign": list(self.foreign),
            "records": rows,
        }
        if self.matches is not None:
            content["matches"] = self.matches
        if self.whole:
            content["tables"] = {name: table.to_dicts() for name, table in self.sides.items()}
        return (
            content
            if self.column is None
            else {**content, "column": self.column, "values": dict(self.values)}
        )


@in_storage()
def show(  # noqa: PLR0913
    data: Annotated[Source, Argument("A folder that claimlab wrote: a dataset, a run, a report.")],
    *,
    limit: Annotated[int, Option("Show the first N records.", least=0)] = 5,
    where: Annotated[
        str | Sequence[str], Option("Only records like veracity=false or text~word. Repeatable.")
    ] = (),
    id: Annotated[
        str | Sequence[str],
        Option("The whole record of this id, with its evidence and annotations. Repeatable."),
    ] = (),
    column: Annotated[str | None, Option("Count the values of one column.")] = None,
    wrong: Annotated[bool, Option("Of a run: only the records that it got wrong.")] = False,
    sql: Annotated[
        str | None,
        Option("The first rows of a query, as: select ... from records; side tables are tables."),
    ] = None,
    dossier: Annotated[
        Place | None,
        Option("Write a page to print: all that is known of one record.", metavar="FILE.html"),
    ] = None,
    verify: Annotated[
        bool, Option("Compare every file with its stored sha256; exit with 1 if one differs.")
    ] = False,
    accept_edits: Annotated[
        str | None, Option("Keep edited tables, and record why in the lineage.", metavar="WHY")
    ] = None,
) -> Folder:
    """Show what a folder holds: counts, labels, splits, side tables, lineage, notes and the first
    records.

    A file that `verify` finds changed raises `FileChanged` with the names of those that differ.
    """
    stored = verify or accept_edits is not None
    if not isinstance(data, str | Path):
        if stored:
            raise UsageError("A dataset in memory has no files to compare.", "Pass its folder.")
        dataset = Dataset.of(data)
    else:
        folder = Path(data)
        kind = _kind(folder)
        if kind != DATASET:
            if stored:
                raise UsageError(
                    f"'{folder}' is a claimlab {kind}; only datasets keep hashes.",
                    "Pass a dataset folder.",
                )
            inside = (path for path in folder.rglob("*") if path.is_file())
            files = tuple(sorted(path.relative_to(folder).as_posix() for path in inside))
            foreign = tuple(foreign_files(folder))
            return Folder(folder.name, kind, folder, files=files, foreign=foreign)
        if accept_edits is not None:
            _accept(folder, accept_edits)
        if verify:
            _verify(folder)
        dataset = Dataset.open(folder)
    looked = _looked(dataset, limit, each_of(where), each_of(id), column, wrong, sql)
    return looked if dossier is None else _dossier(looked, Path(dossier))


def _kind(folder: Path) -> str:
    kind = kind_of(folder) if folder.is_dir() else None
    if kind is None:
        read_manifest(folder)  # says what is wrong with it
        raise SchemaError(
            f"'{folder}' was not written by claimlab.", "Pass a folder that claimlab wrote."
        )
    return kind


def _dossier(folder: Folder, file: Path) -> Folder:
    """The folder with the dossier of its one record, which is written to `file` as well."""
    if not folder.whole or folder.records.height != 1:
        raise UsageError("A dossier is about one record.", "Name it: `id`.")
    report = dossier_of(folder.records.row(0, named=True), folder.sides)
    refuse_file(file, force=True, kind="dossier", sign=f"<title>{TITLE}")
    atomic_text(file, to_html(report))
    return replace(folder, dossier=report)


def _looked(
    dataset: Dataset,
    limit: int,
    where: Sequence[str],
    ids: Sequence[str],
    column: str | None,
    wrong: bool,
    sql: str | None,
) -> Folder:
    """The dataset with only the records that were asked for."""
    kind = RUN if "predictions" in dataset.tables else DATASET
    foreign = () if dataset.path is None else tuple(foreign_files(dataset.path))
    first, files = dataset.records.head(limit), tuple(dataset.files)
    folder = Folder(dataset.name, kind, dataset.path, dataset, first, files, foreign)
    some = bool(where or ids or column or wrong)
    if sql is not None:
        if some:
            raise UsageError("A query chooses its rows itself.", "Pass `sql` alone.")
        return replace(folder, answer=queried(dataset, sql, max(limit, ROWS_SHOWN)))
    if not some:
        return folder
    records = select(dataset, where, ids, wrong)
    folder = replace(folder, records=records.head(limit), matches=records.height, column=column)
    if column is not None:
        check_name("column", column, records.columns)
        folder = replace(folder, values=value_counts(records[column]))
    if ids:
        sides = _sides(dataset, records["id"])
        folder = replace(folder, records=records, whole=True, sides=sides)
    return folder


def _sides(dataset: Dataset, ids: pl.Series) -> dict[str, pl.DataFrame]:
    """The rows of side tables that belong to these records."""
    keyed = {
        name: table
        for name, table in sorted(dataset.tables.items())
        if "record_id" in table.columns
    }
    return {name: table for name, table in belonging(keyed, ids).items() if table.height}


def _accept(folder: Path, why: str) -> None:
    if not why.strip():
        raise UsageError("An edit needs a reason.", "Say in a few words why it was made.")
    accept(folder, why)
    send(folder)


def _verify(folder: Path) -> None:
    """Every file that the manifest lists, reports beside the tables included."""
    stored = read_manifest(folder).files
    changed = [
        n for n, h in stored.items() if not (folder / n).is_file() or digest_file(folder / n) != h
    ]
    if changed:
        raise FileChanged(folder, changed)


def blocks(folder: Folder) -> Blocks:
    """The folder as sections to read."""
    if folder.dataset is None:
        return [Section(folder.headline(), [Items(folder.files[:40]), *_foreign(folder)])]
    if folder.dossier is not None:
        return [Section(folder.dossier.title, folder.dossier.blocks)]
    if folder.answer is not None:
        return [_side("query", folder.answer, folder.answer.height)]
    if folder.matches is not None:
        return _matches(folder, folder.matches)
    dataset = folder.dataset
    about = facts(dataset.records, dataset.manifest().counts, dataset.licence)
    parts: Blocks = [Items(about), *_foreign(folder)]
    if dataset.tables:
        parts.append(Section("Side tables", [Table.of(SIDE, sorted(dataset.tables.items()))]))
    if dataset.lineage:
        parts.append(Section("Lineage", [Table.of(STEP, enumerate(dataset.lineage, 1))]))
    parts += [Section("Notes", [Items(dataset.notes)])] if dataset.notes else []
    if folder.records.height:
        parts.append(
            Section("First records", [Table(FIELDS, folder.records.select(FIELDS).rows())])
        )
    return [Section(folder.headline(), parts)]


def _matches(folder: Folder, matches: int) -> Blocks:
    """The records, or the values of a column, that were asked for."""
    if folder.column is not None:
        values = sorted(folder.values.items(), key=lambda item: (-item[1], item[0]))
        more = (
            [Text(f"and {len(values) - VALUES_SHOWN:,} more", "note")]
            if len(values) > VALUES_SHOWN
            else []
        )
        rows = Table((folder.column, "records"), values[:VALUES_SHOWN])
        title = f"{folder.column} of {several(matches, 'record')} of '{folder.name}'"
        return [Section(title, [rows, *more])]
    title = f"{matches:,} of the records of '{folder.name}'"
    if folder.whole:
        fields = [
            (name, str(value))
            for row in folder.records.to_dicts()
            for name, value in row.items()
            if value is not None
        ]
        record = Section(title, [Table(("field", "value"), fields)])
        return [record, *(_side(name, table) for name, table in folder.sides.items())]
    columns = [c for c in (*FIELDS[:2], "predicted", *FIELDS[2:]) if c in folder.records.columns]
    return [Section(title, [Table(columns, folder.records.select(columns).rows())])]


def _side(name: str, table: pl.DataFrame, most: int = ROWS_SHOWN) -> Section:
    """The rows of a side table, without the columns that are empty in all of them."""
    columns = [c for c in table.columns if table[c].count()]
    rows = [
        tuple("" if v is None else str(v) for v in row)
        for row in table.select(columns).head(most).rows()
    ]
    more = [Text(f"and {table.height - most:,} more", "note")] if table.height > most else []
    return Section(f"{name}: {several(table.height, 'row')}", [Table(tuple(columns), rows), *more])


def _foreign(folder: Folder) -> Blocks:
    words = f"Not written by claimlab: {', '.join(folder.foreign[:FILES_NAMED])}."
    return [Text(words, "note")] if folder.foreign else []


def _short(step: Lineage) -> str:
    """The plain parameters of a step, its seed and its counts, on one line; `to_json` has all of
    it.
    """
    simple = {
        k: v
        for k, v in step.parameters.items()
        if isinstance(v, str | int | float) and v not in ("", False)
    }
    seed = {} if step.seed is None else {"seed": step.seed}
    words = ", ".join(f"{key}={value}" for key, value in {**simple, **seed}.items())
    counts = ", ".join(f"{key} {n:,}" for key, n in step.counts.items() if n)
    line = "; ".join(filter(None, [words, counts]))
    return line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…"
