"""Import an edited export of claimlab without losing its licence, lineage and marks.

An export comes back whole (`exchange.back`). One that was edited so far that its columns are no
longer ours is read like any other files, but what it was before the edit is still known from
`claimlab.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from claimlab.core.dataset import MANIFEST, RECORDS, Dataset
from claimlab.core.errors import UsageError
from claimlab.exchange.marker import FILE, Marker, read_marker
from claimlab.exchange.read.gathered import FILE as FILE_COLUMN
from claimlab.files.hub import snapshot

POSITION = "position"  # the row number that the hf format adds
_RECORD_FILES = {  # in the other formats: records.csv, records.jsonl, records.parquet
    "hf": ["data/*.parquet"],
    "claimreview": ["claimreview.json"],
    "inspect": ["samples.jsonl"],
    "lm-eval": ["samples.jsonl"],
    "embedding-atlas": ["map.parquet"],
}


def marker_of(paths: Sequence[str | Path]) -> Marker | None:
    """The marker of an exported folder; a dataset folder needs no import, and says so."""
    if len(paths) != 1 or not Path(paths[0]).is_dir():
        return None
    folder = snapshot(Path(paths[0]))
    if (folder / MANIFEST).is_file() and (folder / RECORDS).is_file():
        raise UsageError(
            f"'{folder}' is a claimlab dataset already.", "Use it as it is; it needs no import."
        )
    return read_marker(folder, verify=False) if (folder / FILE).is_file() else None


def record_files(marker: Marker) -> list[str]:
    """Patterns of the files that hold records; side tables are keyed by record id and are not
    records.
    """
    return _RECORD_FILES.get(marker.format, ["records.*"])


def tidy(frame: pl.DataFrame) -> pl.DataFrame:
    """Undo what the export did to fit its format: rows in their old order, no columns of its
    own.
    """
    if POSITION in frame.columns:
        frame = frame.sort(
            pl.col(POSITION).cast(pl.Int64, strict=False), maintain_order=True, nulls_last=True
        )
    return frame.drop([POSITION, FILE_COLUMN], strict=False)


def inherit(dataset: Dataset, marker: Marker) -> None:
    """Give `dataset` the life it had before it was exported."""
    before = marker.dataset
    dataset.card, dataset.licence, dataset.synthetic = before.card, before.licence, before.synthetic
    dataset.lineage = [*before.lineage, marker.export, *dataset.lineage]
    dataset.notes = [*before.notes, *dataset.notes]
