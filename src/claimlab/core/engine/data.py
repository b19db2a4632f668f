"""A dataset as workers read it: they see nothing of this process but the folder of the run."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.atomic import atomic_folder
from claimlab.core.dataset import Dataset
from claimlab.core.engine.reads import digest_of, reads


def dataset_in(place: Path, dataset: Dataset) -> dict[str, str]:
    """The dataset in `place`, as part of a shard; written at every start, as what is there may be
    another user's.
    """
    folder = place.absolute() / f"data-{dataset.fingerprint()[:16]}"
    with atomic_folder(folder) as building:
        dataset.write_into(building)
        digest = digest_of(building)  # while no other user can write it
    return reads(folder, digest)
