"""Accept a dataset folder that was edited by hand: check what must still hold, and record the edit
in the lineage.
"""

from __future__ import annotations

from pathlib import Path

from claimlab.core.dataset import (
    MANIFEST,
    Dataset,
    Lineage,
    Manifest,
    changed_files,
    count,
    read_manifest,
    seal,
)
from claimlab.core.errors import SchemaError
from claimlab.core.record import (
    SIDE_TABLES,
    SIDES,
    refuse_wrong_meta,
    to_side_table,
    validate,
)


def accept_edits(folder: Path, why: str) -> Manifest:
    """Take the tables in `folder` as they are now: check them, and record the edit in the lineage.
    The manifest as it is when nothing was edited."""
    manifest = read_manifest(folder)
    dataset = Dataset.open(folder, verify=False)
    _check_edited(dataset, manifest)
    changed = changed_files(folder, manifest)
    if not changed and manifest.counts == count(dataset.records, dataset.tables):
        return manifest
    changed = changed or [MANIFEST]
    step = Lineage(
        step="edit",
        parameters={"why": why, "files": changed},
        inputs={name: manifest.files.get(name, "") for name in changed},
        counts={"records": len(dataset)},
    )
    edited = dataset.manifest()
    edited.lineage = [*dataset.lineage, step]
    return seal(folder, edited)


def _check_edited(dataset: Dataset, before: Manifest) -> None:
    """What claimlab itself always writes, and what an editor may have broken."""
    records = dataset.records
    validate(records)
    # The name is in every record, too: changed in one place only, it would say that the records are
    # another's.
    names = sorted(records["dataset"].drop_nulls().unique())
    if len(names) == 1 and names != [dataset.name]:
        raise SchemaError(
            f"The records belong to the dataset '{names[0]}', and {MANIFEST} calls it"
            f" '{dataset.name}'.",
            "Give it one name in both places.",
        )
    # A misspelt side ("Train", "validation") would leave its records out of every part without a
    # word.
    sides = {*SIDES, *before.counts.get("split", {})}
    new = sorted(set(records["split"].drop_nulls()) - sides)
    if new:
        raise SchemaError(
            f"Column 'split' holds {new[:5]}.", f"Use only: {', '.join(sorted(sides))}, or null."
        )
    refuse_wrong_meta(records)
    for name, table in dataset.tables.items():
        if name in SIDE_TABLES and table.schema != to_side_table(name, table).schema:
            raise SchemaError(
                f"The table '{name}' has wrong or missing columns.", "Restore it or make it again."
            )
