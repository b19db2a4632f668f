"""What comes after a dataset was written: as a command, by what is in it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claimlab.core.dataset import Dataset


def following(
    dataset: Dataset, folder: Path, otherwise: str, *, task: str = "veracity", copies: bool = False
) -> str:
    """A look at the labels where there are fewer than two classes, cleaning where texts occur twice
    (`copies` asks for that), or else `otherwise`, in which {} is the folder."""
    from claimlab.tasks import open_task
    from claimlab.text.normalise import normal_form

    place = shlex.quote(str(folder))
    if len(open_task(task, dataset.records).classes_in(dataset.records)) < 2:
        return f"claimlab show {place} --column label_raw"
    if copies:
        texts = normal_form(dataset.records["text"]).drop_nulls()
        if texts.n_unique() < texts.len():
            return f"claimlab clean {place} -o {shlex.quote(f'{folder}-clean')}"
    return otherwise.format(place)
