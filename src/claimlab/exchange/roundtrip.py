"""An export of claimlab comes back as the dataset it was.

Records in claimlab's own columns are taken as they are, with nothing guessed. A folder that
`claimlab export` wrote holds everything, side tables and lineage included, also where its tables
were edited since. A folder that the `datasets` library wrote from such an export holds the records.
An export that was edited so far that its columns are no longer ours is read like any other files,
but what it was before the edit is still known from its marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from claimlab.core.dataset import MANIFEST, RECORDS, Dataset, Lineage, belonging
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.record import SCHEMA, validate
from claimlab.exchange.format import (
    FORMATS,
    MARKER,
    Format,
    Lossless,
    Marker,
    changed_files,
    read_marker,
)
from claimlab.exchange.importing.layouts import FILE, Gathered
from claimlab.exchange.importing.report import ImportReport, LanguageFindings, look_at
from claimlab.exchange.synthetic import MACHINE_MADE
from claimlab.files.bundle import Bundle
from claimlab.files.read import typed_member

TYPED = (".arrow", ".parquet", ".pq")
POSITION, LABEL = "position", "label"  # the row number and the class that the hf format adds


def exported(bundles: Sequence[Bundle]) -> Marker | None:
    """The marker of an exported folder; a dataset folder needs no import, and says so."""
    folder = bundles[0].path
    if len(bundles) != 1 or not folder.is_dir():
        return None
    if (folder / MANIFEST).is_file() and (folder / RECORDS).is_file():
        raise UsageError(
            f"'{folder}' is a claimlab dataset already.",
            "Use it as it is, in Python with Dataset.open; it needs no import.",
        )
    return read_marker(folder, verify=False) if (folder / MARKER).is_file() else None


def come_back(
    bundles: Sequence[Bundle], marker: Marker | None, limit: int | None = None
) -> tuple[Dataset, ImportReport] | None:
    """The dataset in a folder that holds one, and what to say of it; null where columns have to be
    guessed.
    """
    folder = bundles[0].path
    if len(bundles) != 1 or not folder.is_dir():
        return None
    changed = [] if marker is None else changed_files(folder, marker)
    dataset = _records_alone(bundles[0]) if marker is None else _whole(folder, marker, changed)
    if dataset is None:
        return None
    total = dataset.records.height
    if limit is not None:
        dataset.records = dataset.records.head(limit)
        dataset.tables = belonging(dataset.tables, dataset.records["id"])
    report = ImportReport(rows_read=total, left_by_limit=total - dataset.records.height)
    report.notes.append("The columns are claimlab's own: nothing was guessed.")
    if changed:
        report.notes.append(f"Edited since the export: {', '.join(changed)}.")
        dataset.notes = [*dataset.notes, report.notes[-1]]
    look_at(dataset.records, report, None, None)
    spoken = dataset.records["language"].drop_nulls().value_counts().sort("language")
    report.languages = LanguageFindings(
        "as exported", dict(spoken.iter_rows()), dataset.records["language"].null_count()
    )
    step = Lineage(
        step="import",
        parameters={"limit": limit},
        inputs=bundles[0].hashes(),
        counts=report.counts(),
    )
    dataset.lineage, dataset.path, dataset.files = [*dataset.lineage, step], None, {}
    return dataset, report


def _whole(folder: Path, marker: Marker, changed: Sequence[str]) -> Dataset | None:
    """The dataset of an exported folder; null where the format does not hold it whole, or an edit
    changed columns.
    """
    form = _format(marker)
    if not isinstance(form, Lossless):
        return None
    try:
        dataset = form.read(folder, marker)
        validate(dataset.records)
    except (ClaimlabError, pl.exceptions.PolarsError, OSError, ValueError):
        if changed:
            return None  # edited beyond what the marker says of it: for the reader of any table
        raise
    dataset.lineage = [*dataset.lineage, marker.export]
    return dataset


def _records_alone(bundle: Bundle) -> Dataset | None:
    """The records of a folder of typed tables that all have the record columns; null for any other
    folder.
    """
    parts = []
    for name in bundle.names():
        if name.lower().endswith(TYPED):
            parts.append(typed_member(bundle, name))
            if set(parts[-1].columns) - {POSITION, LABEL} != SCHEMA.keys():
                return None
    if not parts:
        return None
    rows = pl.concat(parts, how="vertical_relaxed").drop(LABEL, strict=False)
    if POSITION in rows.columns:  # the hf format adds it
        rows = rows.sort(POSITION, maintain_order=True).drop(POSITION)
    called, *others = rows["dataset"].unique().to_list()
    if called is None or others:
        return None
    synthetic = bool(rows["authorship"].is_in(MACHINE_MADE).any())
    return Dataset.build(str(called), rows, synthetic=synthetic)


def _format(marker: Marker) -> object:
    """The format of an export; null where the package that brought it is not installed."""
    return FORMATS.get(marker.format) if marker.format in FORMATS else None


def record_files(marker: Marker) -> Sequence[str]:
    """Patterns of the files that hold records; side tables are keyed by record id and are not
    records.
    """
    return getattr(_format(marker), "records", Format.records)


def tidy(gathered: Gathered) -> None:
    """Undo what the export did to fit its format: rows in their old order, no columns of its
    own.
    """
    if POSITION in gathered.frame.columns:
        row = pl.col(POSITION).cast(pl.Int64, strict=False)
        gathered.frame = gathered.frame.sort(row, maintain_order=True, nulls_last=True)
    gathered.frame = gathered.frame.drop([POSITION, FILE], strict=False)


def inherit(dataset: Dataset, marker: Marker) -> None:
    """Give `dataset` the life it had before it was exported."""
    before = marker.dataset
    dataset.card, dataset.licence, dataset.synthetic = before.card, before.licence, before.synthetic
    dataset.lineage = [*before.lineage, marker.export, *dataset.lineage]
    dataset.notes = [*before.notes, *dataset.notes]
