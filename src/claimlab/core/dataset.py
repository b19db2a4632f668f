"""A dataset is a folder any tool can read: `records.parquet`, side tables beside it, and
`dataset.json`.

`dataset.json` has the counts, the sha256 of each file, and the lineage: every step with its
parameters, seed, tool version and input hashes. It has no times and no paths, so the same inputs,
parameters and seed give the same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, Unpack, overload

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from claimlab.core.atomic import atomic_folder, recover
from claimlab.core.digest import digest_file, digest_json, digest_table, write_parquet
from claimlab.core.errors import FileChanged, SchemaError, UsageError, check_name, either
from claimlab.core.facts import facts, first_records
from claimlab.core.foreign import Foreign, importer
from claimlab.core.guard import DATASET, refuse_taken
from claimlab.core.options import DataOptions
from claimlab.core.record import (
    SIDE_TABLES,
    check_columns,
    slim,
    to_records,
    to_side_table,
    validate,
)
from claimlab.core.remote import send, to_read, to_write
from claimlab.core.shown import to_pandas
from claimlab.core.tables import read_parquet, refuse_bombs
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several

SCHEMA_VERSION = 1
MANIFEST = "dataset.json"
RECORDS = "records.parquet"


class Lineage(BaseModel):
    """One step in a dataset's life. `inputs` maps a name (never a path) to a sha256."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: str
    parameters: JsonObject = {}
    seed: int | None = None
    tool: str = f"claimlab {__version__}"
    inputs: dict[str, str] = {}
    counts: dict[str, int] = {}


class Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA_VERSION
    name: str
    card: str | None = None
    licence: str | None = None
    synthetic: bool = False
    notes: list[str] = []
    counts: JsonObject = {}
    files: dict[str, str] = {}
    lineage: list[Lineage] = []
    # sha256 of all the above: a name or a licence that was edited is noticed too
    digest: str | None = None

    def own_digest(self) -> str:
        return digest_json(self.model_dump(exclude={"digest"}))

    def fingerprint(self) -> str:
        """sha256 of the name and all tables: what a run that reads it depends on."""
        return _fingerprint(self.name, self.files)


@dataclass
class Dataset:
    """Records and side tables in memory, with the manifest that travels with them."""

    name: str
    records: pl.DataFrame
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    card: str | None = None
    licence: str | None = None
    synthetic: bool = False
    notes: list[str] = field(default_factory=list)
    lineage: list[Lineage] = field(default_factory=list)
    path: Path | None = None
    files: dict[str, str] = field(default_factory=dict)
    report: JsonObject = field(
        default_factory=dict
    )  # what the step that made it says besides; not written

    @classmethod
    def build(
        cls,
        name: str,
        records: pl.DataFrame,
        tables: Mapping[str, pl.DataFrame] | None = None,
        **more: Any,
    ) -> Dataset:
        """Conform and validate `records` (and the known side tables), then make a dataset of
        them.
        """
        conformed = to_records(records.with_columns(dataset=pl.lit(name)))
        validate(conformed)
        side = {
            t: to_side_table(t, f) if t in SIDE_TABLES else f for t, f in (tables or {}).items()
        }
        return cls(name=name, records=conformed, tables=side, **more)

    @classmethod
    def open(cls, path: str | Path, *, verify: bool = True) -> Dataset:
        """Read the dataset folder at `path`; refuse one made by a newer claimlab, or edited since
        it was written.
        """
        folder = to_read(path)
        manifest = read_manifest(folder)
        if verify and (changed := changed_files(folder, manifest)):
            raise FileChanged(folder, changed)
        names = [Path(f).stem for f in manifest.files if f != RECORDS and _is_table(f)]
        refuse_bombs([folder / f"{name}.parquet" for name in (Path(RECORDS).stem, *names)])
        try:
            records = slim(read_parquet(folder / RECORDS))
            tables = {name: read_parquet(folder / f"{name}.parquet") for name in names}
        except (OSError, pl.exceptions.PolarsError) as error:
            raise SchemaError(
                f"A table in '{folder}' cannot be read: {error}.", "Make the dataset again."
            ) from None
        check_columns(records)
        if verify and manifest.counts != count(records, tables):
            raise FileChanged(folder, [MANIFEST])
        more = {
            name: getattr(manifest, name)
            for name in ("card", "licence", "synthetic", "notes", "lineage", "files")
        }
        return cls(name=manifest.name, records=records, tables=tables, path=folder, **more)

    @classmethod
    def of(
        cls,
        source: Dataset | str | Path | Foreign,
        limit: int | None = None,
        **columns: Unpack[DataOptions],
    ) -> Dataset:
        """What every function accepts: a dataset or its folder; or data to import first, where
        `columns` may say what is what. With `limit`, its first records.
        """
        if isinstance(source, str | Path) and not to_read(source).is_file():
            source = cls.open(source)
        if not isinstance(source, Dataset):
            dataset, _ = importer()(source, **columns)
            assert isinstance(dataset, Dataset)
            return dataset.limited(limit)
        if columns:
            raise UsageError(
                f"A dataset has its columns already: `{next(iter(columns))}` is for data that is"
                " imported first.",
                "Leave it out, or pass the file or data frame itself.",
            )
        return source.limited(limit)

    def __repr__(self) -> str:
        labels = count(self.records, {}).get("veracity", {})
        counts = ", ".join(f"{name} {n:,}" for name, n in labels.items())
        labelled = f" ({counts})" if counts else ""
        tables = f", tables: {', '.join(sorted(self.tables))}" if self.tables else ""
        return f"<Dataset '{self.name}': {several(len(self), 'record')}{labelled}{tables}>"

    def __str__(self) -> str:
        """What `claimlab show` prints of it, in short."""
        lines = [f"'{self.name}': a dataset of {several(len(self), 'record')}"]
        lines += [
            f"- {line}" for line in facts(self.records, count(self.records, {}), self.licence)
        ]
        lines += [
            f"- {name}: {several(table.height, 'row')}"
            for name, table in sorted(self.tables.items())
        ]
        return "\n".join(lines + first_records(self.records))

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.records.head(10)._repr_html_()}"

    def __len__(self) -> int:
        return self.records.height

    @overload
    def __getitem__(self, index: int) -> JsonObject: ...
    @overload
    def __getitem__(self, index: slice) -> Dataset: ...
    @overload
    def __getitem__(self, index: str) -> pl.Series: ...

    def __getitem__(self, index: int | slice | str) -> JsonObject | Dataset | pl.Series:
        """A record by its number, the records of a slice as a dataset, or a column by its name."""
        if isinstance(index, slice):
            rows = range(len(self))[index]
            parameters = {"start": rows.start, "stop": rows.stop, "step": rows.step}
            return self._narrowed(self.records[index], "slice", parameters)
        if isinstance(index, str):
            check_name("column", index, self.records.columns)
            return self.records[index]
        if not -len(self) <= index < len(self):
            raise IndexError(f"record {index} of {len(self)}")
        return self.records.row(index, named=True)

    def __iter__(self) -> Iterator[JsonObject]:
        return self.records.iter_rows(named=True)

    def head(self, n: int = 5) -> Dataset:
        return self.limited(n)

    def filter(self, *conditions: pl.Expr) -> Dataset:
        """The records that meet all conditions (Polars expressions), with what the side tables say
        of them.
        """
        records = self.records.filter(*conditions)
        return self._narrowed(records, "filter", {"conditions": [str(c) for c in conditions]})

    def to_pandas(self) -> Any:
        """The records as a pandas DataFrame."""
        return to_pandas(self.records)

    def write(self, path: str | Path, *, force: bool = False) -> Manifest:
        """Write the folder in one atomic step; `force` replaces a dataset that is there."""
        target = to_write(path)
        refuse_taken(target, force=force, kind=DATASET)
        with atomic_folder(target) as building:
            manifest = self.write_into(building)
        send(target)
        self.path, self.files = target, manifest.files
        return manifest

    def write_into(self, folder: Path) -> Manifest:
        """Write the files into `folder` as they are: for callers that manage their own atomic
        folder.
        """
        write_parquet(self.records, folder / RECORDS)
        for name, table in sorted(self.tables.items()):
            write_parquet(table, folder / f"{name}.parquet")
        return seal(folder, self.manifest())

    def manifest(self) -> Manifest:
        return Manifest(
            name=self.name,
            card=self.card,
            licence=self.licence,
            synthetic=self.synthetic,
            notes=self.notes,
            counts=count(self.records, self.tables),
            files=self.files,
            lineage=self.lineage,
        )

    @property
    def label_map(self) -> str | None:
        """The name of the label map, as the step that applied it recorded it."""
        named = (step.parameters.get("map") for step in reversed(self.lineage))
        name = next((one for one in named if isinstance(one, str)), None)
        return None if name is None else name.partition("@")[0]

    def derive(
        self, records: pl.DataFrame, step: Lineage, tables: Mapping[str, pl.DataFrame] | None = None
    ) -> Dataset:
        """The dataset after `step`: same identity, longer lineage. Side tables are kept unless
        `tables` is given.
        """
        return replace(
            self,
            records=records,
            tables=dict(self.tables if tables is None else tables),
            notes=list(self.notes),
            lineage=[*self.lineage, step],
            path=None,
            files={},
            report={},
        )

    def limited(self, limit: int | None) -> Dataset:
        """The first records with what side tables say of them, and a lineage step that says so;
        null: all.
        """
        if limit is None:
            return self
        return self._narrowed(self.records.head(limit), "limit", {"limit": limit})

    def sampled(self, n: int | None, seed: int) -> Dataset:
        """`n` records drawn at random where there are more, in their order, with a lineage step
        that says of how many; null: all.
        """
        if n is None or n >= len(self):
            return self
        rows = sorted(random.Random(seed).sample(range(len(self)), n))
        return self._narrowed(self.records[rows], "sample", {"records": n}, seed)

    def _narrowed(
        self, records: pl.DataFrame, step: str, parameters: JsonObject, seed: int | None = None
    ) -> Dataset:
        of = {} if seed is None else {"of": len(self)}
        lineage = Lineage(
            step=step,
            parameters=parameters,
            seed=seed,
            inputs={self.name: self.digest()},
            counts={"records": records.height, **of},
        )
        narrowed = self.derive(records, lineage, belonging(self.tables, records["id"]))
        narrowed.path = self.path  # runs are known by the name of their folder
        return narrowed

    def digest(self) -> str:
        """sha256 of the records: of the file when it was read from one, of a fresh write
        otherwise.
        """
        return self.files.get(RECORDS) or digest_table(self.records)

    def fingerprint(self) -> str:
        """sha256 of everything in it, side tables included: what a run that reads it depends on."""
        if self.files:
            return _fingerprint(self.name, self.files)
        tables = {f"{name}.parquet": digest_table(table) for name, table in self.tables.items()}
        return _fingerprint(self.name, {RECORDS: self.digest(), **tables})


def _fingerprint(name: str, files: Mapping[str, str]) -> str:
    return digest_json([name, {file: files[file] for file in files if _is_table(file)}])


def _is_table(name: str) -> bool:
    """Whether a file of a dataset is one of its tables."""
    return name.endswith(".parquet") and "/" not in name


def belonging(tables: Mapping[str, pl.DataFrame], ids: pl.Series) -> dict[str, pl.DataFrame]:
    """Side tables without the rows of records that are gone; a table without `record_id` is kept
    whole.
    """
    here = ids.to_frame("record_id")
    return {
        name: (
            table.join(here, on="record_id", how="semi", maintain_order="left")
            if "record_id" in table.columns
            else table
        )
        for name, table in tables.items()
    }


def read_manifest(folder: Path) -> Manifest:
    recover(folder)
    if not folder.exists():
        raise SchemaError(
            f"There is no folder '{folder}'.",
            "Check the path, or make a dataset with: claimlab import (a run: claimlab detect)",
        )
    file = folder / MANIFEST
    if not file.is_file():
        inside = sorted(str(manifest.parent) for manifest in folder.glob(f"*/{MANIFEST}"))[:3]
        raise SchemaError(
            f"'{folder}' is not a claimlab dataset (it has no {MANIFEST}).",
            f"Did you mean {either(inside)}?"
            if inside
            else "Make one with: claimlab import FILE -o DIR, or claimlab load NAME FILE -o DIR",
        )
    try:
        raw = json.loads(file.read_bytes())
        version = int(raw["schema_version"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SchemaError(f"'{file}' cannot be read: {error}.", "Make the dataset again.") from None
    if not 1 <= version <= SCHEMA_VERSION:
        todo = (
            "Upgrade with: pip install -U claimlab"
            if version > SCHEMA_VERSION
            else "Make the dataset again."
        )
        raise SchemaError(
            f"'{folder}' has schema version {version}; this claimlab reads up to {SCHEMA_VERSION}.",
            todo,
        )
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, e["loc"])) for e in error.errors()[:5])
        raise SchemaError(
            f"'{file}' has wrong fields: {fields}.", "Make the dataset again."
        ) from None


def changed_files(folder: Path, manifest: Manifest) -> list[str]:
    """The tables in `folder` that are not as `manifest` says (edited, missing, or listed nowhere),
    and the manifest itself where it is not as it was written."""
    listed = manifest.files if RECORDS in manifest.files else {**manifest.files, RECORDS: ""}
    tables = {name: digest for name, digest in listed.items() if _is_table(name)}
    changed = [
        name
        for name, digest in tables.items()
        if not (folder / name).is_file() or digest_file(folder / name) != digest
    ]
    return changed if manifest.digest in (None, manifest.own_digest()) else [*changed, MANIFEST]


def seal(folder: Path, manifest: Manifest) -> Manifest:
    """Hash every file in `folder` and write the manifest last."""
    inside = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST)
    manifest.files = {p.relative_to(folder).as_posix(): digest_file(p) for p in inside}
    manifest.digest = manifest.own_digest()
    text = json.dumps(manifest.model_dump(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return manifest


def count(records: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> JsonObject:
    """Counts for the manifest: rows, rows per verdict, kind, language and split, rows of each side
    table.
    """
    out: JsonObject = {"records": records.height}
    for column in ("veracity", "kind", "language", "split"):
        tally = records[column].drop_nulls().value_counts().sort(column)
        if tally.height:
            out[column] = dict(zip(tally[column], tally["count"], strict=True))
    out.update({name: table.height for name, table in sorted(tables.items())})
    return out
