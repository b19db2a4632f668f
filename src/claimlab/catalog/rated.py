"""Which datasets are collections of fact-checks: searched, their rows carry the ratings that
fact-checkers gave.
"""

from __future__ import annotations

from pathlib import Path

from claimlab.catalog.load import DATASETS
from claimlab.core.dataset import MANIFEST, read_manifest


def holds_factchecks(folder: Path) -> bool:
    """Whether the card of the dataset in `folder` says so; what is not a dataset, or has no card,
    is not.
    """
    card = read_manifest(folder).card if (folder / MANIFEST).is_file() else None
    return card is not None and card in DATASETS and DATASETS.get(card).card.factchecks
