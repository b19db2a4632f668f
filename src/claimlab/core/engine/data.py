"""A dataset as workers read it: they see nothing of this process but the folder of the run."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.atomic import atomic_folder
from claimlab.core.dataset import MANIFEST, Dataset


def dataset_in(place: Path, dataset: Dataset) -> str:
    """The path of the dataset in `place`, written there once."""
    folder = place.absolute() / f"data-{dataset.fingerprint()[:16]}"
    if not (folder / MANIFEST).is_file():
        with atomic_folder(folder) as building:
            dataset.write_into(building)
    return str(folder)
