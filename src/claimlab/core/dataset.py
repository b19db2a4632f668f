"""A dataset is a folder any tool can read: `records.parquet`, side tables beside it, and `dataset.json`.

`dataset.json` says what the folder holds (counts, sha256 of each file) and where it came from (the lineage: every
step with its parameters, seed, tool version and input hashes). It holds no time of day and no path, so the same
inputs, parameters and seed give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from claimlab import __version__
from claimlab.core.atomic import atomic_folder, recover
from claimlab.core.errors import OutputExists, SchemaError, UsageError
from claimlab.core.record import SIDE_TABLES, to_records, to_side_table, validate

SCHEMA_VERSION = 1
MANIFEST = "dataset.json"
RECORDS = "records.parquet"


class Lineage(BaseModel):
    """One step in a dataset's life. `inputs` maps a name (never a path) to a sha256."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: str
    parameters: dict[str, Any] = {}
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
    counts: dict[str, Any] = {}
    files: dict[str, str] = {}
    lineage: list[Lineage] = []


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

    @classmethod
    def build(
        cls, name: str, records: pl.DataFrame, tables: Mapping[str, pl.DataFrame] | None = None, **more: Any
    ) -> Dataset:
        """Conform and validate `records` (and the known side tables), then make a dataset of them."""
        conformed = to_records(records.with_columns(pl.lit(name).alias("dataset")))
        validate(conformed)
        side = {t: to_side_table(t, f) if t in SIDE_TABLES else f for t, f in (tables or {}).items()}
        return cls(name=name, records=conformed, tables=side, **more)

    @classmethod
    def open(cls, path: str | Path) -> Dataset:
        """Read the dataset folder at `path`; refuse one made by a newer claimlab."""
        folder = Path(path)
        manifest = read_manifest(folder)
        try:
            records = pl.read_parquet(folder / RECORDS)
            names = [Path(f).stem for f in manifest.files if f != RECORDS and f.endswith(".parquet")]
            tables = {name: pl.read_parquet(folder / f"{name}.parquet") for name in names}
        except (OSError, pl.exceptions.PolarsError) as error:
            raise SchemaError(f"A table in '{folder}' cannot be read: {error}.", "Make the dataset again.") from None
        return cls(
            name=manifest.name,
            records=records,
            tables=tables,
            card=manifest.card,
            licence=manifest.licence,
            synthetic=manifest.synthetic,
            notes=list(manifest.notes),
            lineage=list(manifest.lineage),
            path=folder,
            files=dict(manifest.files),
        )

    def write(self, path: str | Path, *, force: bool = False) -> Manifest:
        """Write the folder in one atomic step; `force` replaces a dataset that stands there."""
        target = Path(path)
        refuse_overwrite(target, force)
        with atomic_folder(target) as building:
            return self.write_into(building)

    def write_into(self, folder: Path) -> Manifest:
        """Write the files into `folder` as they are: for callers that manage their own atomic folder."""
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
            notes=list(self.notes),
            counts=count(self.records, self.tables),
            files=dict(self.files),
            lineage=list(self.lineage),
        )

    def derive(self, records: pl.DataFrame, step: Lineage, tables: Mapping[str, pl.DataFrame] | None = None) -> Dataset:
        """The dataset after `step`: same identity, longer lineage. Side tables are kept unless `tables` is given."""
        return Dataset(
            name=self.name,
            records=records,
            tables=dict(self.tables if tables is None else tables),
            card=self.card,
            licence=self.licence,
            synthetic=self.synthetic,
            notes=list(self.notes),
            lineage=[*self.lineage, step],
        )

    def limited(self, limit: int | None) -> Dataset:
        """The first records with what side tables say of them, and a step of the lineage that says so; null: all."""
        if limit is None:
            return self
        records = self.records.head(limit)
        step = Lineage(
            step="limit",
            parameters={"limit": limit},
            inputs={self.name: self.digest()},
            counts={"records": records.height},
        )
        cut = self.derive(records, step, belonging(self.tables, records["id"]))
        cut.path = self.path  # runs are known by the name of their folder
        return cut

    def digest(self) -> str:
        """sha256 of the records: of the file when it was read from one, of a fresh write otherwise."""
        if RECORDS in self.files:
            return self.files[RECORDS]
        import io

        buffer = io.BytesIO()
        write_parquet(self.records, buffer)
        return hashlib.sha256(buffer.getvalue()).hexdigest()


def belonging(tables: Mapping[str, pl.DataFrame], ids: pl.Series) -> dict[str, pl.DataFrame]:
    """Side tables without the rows of records that are gone; a table without `record_id` is kept whole."""
    here = ids.to_frame("record_id")
    return {
        name: table.join(here, on="record_id", how="semi", maintain_order="left")
        if "record_id" in table.columns
        else table
        for name, table in tables.items()
    }


def read_manifest(folder: Path) -> Manifest:
    recover(folder)
    if not folder.exists():
        raise SchemaError(f"There is no folder '{folder}'.", "Check the path, or make one with: claimlab import")
    file = folder / MANIFEST
    if not file.is_file():
        raise SchemaError(
            f"'{folder}' is not a claimlab dataset (it has no {MANIFEST}).",
            "Make one with: claimlab import FILE -o DIR, or claimlab load NAME FILE -o DIR",
        )
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        version = int(raw["schema_version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SchemaError(f"'{file}' cannot be read: {error}.", "Make the dataset again.") from None
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"'{folder}' has schema version {version}; this claimlab reads up to {SCHEMA_VERSION}.",
            "Upgrade with: pip install -U claimlab",
        )
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, e["loc"])) for e in error.errors()[:5])
        raise SchemaError(f"'{file}' has wrong fields: {fields}.", "Make the dataset again.") from None


def seal(folder: Path, manifest: Manifest) -> Manifest:
    """Hash every table in `folder` and write the manifest last."""
    manifest.files = {p.name: sha256_file(p) for p in sorted(folder.glob("*.parquet"))}
    text = json.dumps(manifest.model_dump(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return manifest


def refuse_overwrite(target: Path, force: bool, *, reads: Path | None = None) -> None:
    """Raise before any work is done if `target` is taken; `--force` only ever replaces a claimlab dataset, and never
    the one that is read (`reads`): what comes out holds fewer rows or other texts, and the first would be lost."""
    recover(target)
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / MANIFEST).is_file():
        raise (
            OutputExists(target)
            if not force
            else SchemaError(
                f"'{target}' holds something that claimlab did not write.",
                "Choose another folder; --force will not remove it.",
            )
        )
    if not force:
        raise OutputExists(target)
    if reads is not None and reads.resolve() == target.resolve():
        raise UsageError(f"'{target}' is what is read: --force would replace it.", "Choose another folder.")


def write_parquet(frame: pl.DataFrame, target: Any) -> None:
    """Parquet with fixed settings, so that equal tables give equal bytes."""
    frame.write_parquet(target, compression="zstd", compression_level=1, row_group_size=65_536, statistics=True)


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def count(records: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Counts for the manifest: rows, rows per verdict, kind, language and split, rows of each side table."""
    out: dict[str, Any] = {"records": records.height}
    for column in ("veracity", "kind", "language", "split"):
        tally = records[column].drop_nulls().value_counts().sort(column)
        if tally.height:
            out[column] = dict(zip(tally[column].to_list(), tally["count"].to_list(), strict=True))
    out.update({name: table.height for name, table in sorted(tables.items())})
    return out
