"""What a split returns: the dataset with its new split, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.split.check import SplitCheck
from claimlab.split.strategy import Parts


@dataclass(frozen=True, repr=False)
class Split(Shown):
    """The dataset with its new split, what the strategy promised of it, and what the check
    found.
    """

    dataset: Dataset
    parts: Parts
    checked: SplitCheck
    all: tuple[Split, ...] = ()  # the split of every value, where all of them were asked for
    impossible: tuple[Failed, ...] = ()  # the values for which there is none

    @property
    def name(self) -> str:
        return self.parts.name

    @property
    def table(self) -> pl.DataFrame:
        """Which record is on which side; null is on none."""
        return self.dataset.records.select("id", "split")

    def headline(self) -> str:
        sides = ", ".join(f"{side} {n:,}" for side, n in self.checked.sides().items())
        return f"of '{self.dataset.name}' by {self.name}: {sides}"

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the dataset with its split."""
        self.dataset.write(folder, force=force)

    def notes(self) -> list[str]:
        return [*self.parts.notes, *self.checked.notes]

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "held_out": list(self.parts.held_out),
            "left_out": self.parts.left_out,
            **self.checked.to_json(),
            "notes": self.notes(),
        }


@dataclass(frozen=True, repr=False)
class Failed(Shown):
    """One of several splits that could not be made, and why."""

    value: str
    why: str

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame({"value": [self.value], "why": [self.why]})

    def headline(self) -> str:
        return f"'{self.value}': {self.why}"
