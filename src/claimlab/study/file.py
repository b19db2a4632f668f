"""The study file: what it may say, read and checked before anything is done.

[datasets.planted]                     # load, import, folder or merge
folder = "demo/planted"

[grid]                                 # every list is an axis; the grid is their product
split = ["random", "near-duplicates"]
detector = ["tfidf", "sentence"]

[split.by-time]                        # what an axis value stands for, where the name alone does not say it
by = "time"
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from claimlab.core.toml_file import read_toml

Value = str | int | float | bool
Options = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Caps(_Part):
    """What the whole study may spend, over all its cells and starts."""

    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None


class View(_Part):
    """The table that is shown first, and the row that the others are compared with."""

    rows: str = "detector"
    columns: str = "split"
    cells: str = "macro_f1"
    baseline: str = "majority"


class StudyFile(_Part):
    """`report` holds the answers that the EQA report asks for, in its own words (see `claimlab report`)."""

    name: str = Field(default="study", min_length=1)
    datasets: dict[str, Options] = Field(min_length=1)
    grid: dict[str, list[Value]]
    seeds: list[int] = Field(default=[0], min_length=1)
    exceptions: list[dict[str, Value | list[Value]]] = Field(default=[], alias="except")
    references: bool = True  # majority and the other trivial detectors beside the models
    caps: Caps = Caps()
    table: View = View()
    report: Options = {}
    clean: dict[str, Options] = {}
    evolve: dict[str, Options] = {}
    enrich: dict[str, Options] = {}
    split: dict[str, Options] = {}
    detector: dict[str, Options] = {}

    def variants(self, axis: str) -> dict[str, Options]:
        """What the values of an axis stand for, by name."""
        found: dict[str, Options] = getattr(self, axis)
        return found


def read_study_file(file: str | Path) -> StudyFile:
    """The study in `file`, or an error that names what is wrong with it."""
    return read_toml(Path(file), StudyFile, kind="study file", start="study_new")
