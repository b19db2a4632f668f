"""Records that come back in claimlab's own columns are taken as they are, with nothing guessed.

A folder that `claimlab export` wrote holds everything, side tables and lineage included, also where
its tables were edited since. A folder that the `datasets` library wrote from such an export holds
the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset, Lineage, belonging
from claimlab.core.errors import ClaimlabError
from claimlab.core.record import SCHEMA, validate
from claimlab.exchange.exported import POSITION, marker_of
from claimlab.exchange.format import FORMATS, Lossless
from claimlab.exchange.make.findings import look_at
from claimlab.exchange.make.report import ImportReport, LanguageFindings
from claimlab.exchange.marker import Marker, changed_files
from claimlab.exchange.synthetic import MACHINE_MADE
from claimlab.files.bundle import Bundle
from claimlab.files.hub import snapshot
from claimlab.files.read import typed_member

TYPED = (".arrow", ".parquet", ".pq")


def come_back(
    paths: Sequence[str | Path], limit: int | None = None
) -> tuple[Dataset, ImportReport] | None:
    """The dataset in a folder that holds one, and what to say of it; null where columns have to be
    guessed.
    """
    if len(paths) != 1:
        return None
    folder = snapshot(Path(paths[0]))
    marker = marker_of([folder])
    dataset = _exported(folder, marker) if marker is not None else _records_alone(folder)
    if dataset is None:
        return None
    total = dataset.records.height
    if limit is not None:
        dataset.records = dataset.records.head(limit)
        dataset.tables = belonging(dataset.tables, dataset.records["id"])
    report = ImportReport(rows_read=total, left_by_limit=total - dataset.records.height)
    report.notes.append("The columns are claimlab's own: nothing was guessed.")
    if marker is not None and (changed := changed_files(folder, marker)):
        report.notes.append(f"Edited since the export: {', '.join(changed)}.")
        dataset.notes = [*dataset.notes, report.notes[-1]]
    look_at(dataset.records, report, None, None)
    spoken = dataset.records["language"].drop_nulls().value_counts().sort("language")
    report.languages = LanguageFindings(
        "as exported", dict(spoken.iter_rows()), dataset.records["language"].null_count()
    )
    with Bundle.open(folder) as bundle:
        inputs = bundle.hashes()
    step = Lineage(
        step="import", parameters={"limit": limit}, inputs=inputs, counts=report.counts()
    )
    dataset.lineage, dataset.path, dataset.files = [*dataset.lineage, step], None, {}
    return dataset, report


def _exported(folder: Path, marker: Marker) -> Dataset | None:
    """The dataset of an exported folder; null where the format does not hold it whole, or an edit
    changed columns.
    """
    if marker.format not in FORMATS or not isinstance(form := FORMATS.get(marker.format), Lossless):
        return None
    try:
        dataset = form.read(folder, marker)
        validate(dataset.records)
    except (ClaimlabError, pl.exceptions.PolarsError, OSError, ValueError):
        if changed_files(folder, marker):
            return None  # edited beyond what the marker says of it: for the reader of any table
        raise
    dataset.lineage = [*dataset.lineage, marker.export]
    return dataset


def _records_alone(folder: Path) -> Dataset | None:
    """The records of a folder of typed tables that all have the record columns; null for any other
    folder.
    """
    if not folder.is_dir():
        return None
    with Bundle.open(folder) as bundle:
        names = [n for n in bundle.names() if n.lower().endswith(TYPED)]
        parts = [typed_member(bundle, name) for name in names[:1]]
        if not parts or not _is_own(parts[0]):
            return None
        parts += [typed_member(bundle, name) for name in names[1:]]
    if not all(map(_is_own, parts)):
        return None
    rows = pl.concat(parts, how="vertical_relaxed")
    rows = (
        rows.sort(POSITION, maintain_order=True).drop(POSITION)
        if POSITION in rows.columns
        else rows
    )
    called, *others = rows["dataset"].unique().to_list()
    if called is None or others:
        return None
    return Dataset.build(
        str(called), rows, synthetic=bool(rows["authorship"].is_in(MACHINE_MADE).any())
    )


def _is_own(frame: pl.DataFrame) -> bool:
    """Whether the columns are those of records; the hf format adds the position of each."""
    return set(frame.columns) - {POSITION} == SCHEMA.keys()
