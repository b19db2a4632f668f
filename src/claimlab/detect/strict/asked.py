"""What a file of predictions is asked: which records, and in which words the classes are known. It
is settled before the file is opened, and needs no gold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.detect.own_words import OwnWords, own_words
from claimlab.tasks import Task


@dataclass(frozen=True)
class Asked:
    """`records` have id, text and split; those of `part` are asked about, or all of them. With
    `leaves_out`, answers for other records are left out and counted; else they are a problem."""

    name: str
    records: pl.DataFrame
    part: str | None
    words: OwnWords
    leaves_out: bool = False

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The records that are asked about."""
        return self.records if self.part is None else self.records.filter(split=self.part)


def asked_of(data: Dataset, task: Task, part: str | None = None) -> Asked:
    """What is asked of a dataset. With `part` named, answers for other parts are left out."""
    chosen = asked_part(data.records, task, part)
    words = own_words(task, data.records)
    return Asked(data.name, data.records, chosen, words, leaves_out=part is not None)


def asked_part(records: pl.DataFrame, task: Task, part: str | None = None) -> str | None:
    """The split that predictions are about: the test, or else "dev", in place of a test that was
    withheld; null where there is neither, and all records count."""
    if part is not None:
        if not (records["split"] == part).any():
            there = ", ".join(records["split"].drop_nulls().unique().sort()) or "none"
            raise DataError(f"No record is in split '{part}' (there are: {there}).", "Check it.")
        return part
    if (records["split"] == "test").any():
        return "test"
    dev = records.filter(split="dev")
    return "dev" if task.labels(dev).drop_nulls().len() else None
