"""The page in which `claimlab serve` shows traces: every claim, hop by hop."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab_simulate.evolve.drift.hops import read_hops
from claimlab_simulate.evolve.drift.viewer import society_of, to_page


def traces_page(folder: Path, most: int) -> str:
    """The page of the dataset in `folder`, with at most `most` traces."""
    dataset = Dataset.open(folder)
    hops, society = read_hops([dataset]), society_of(dataset)
    societies = {hops["run"][0]: society} if society is not None and hops.height else None
    return to_page(hops, societies, most=most)
