"""The contract of a split strategy: the records and what was asked for in; a side for every row
out.

A strategy is a row of `split/strategies/table.py`, or one file there with a module-level STRATEGY
where it needs code of its own. It only says who goes where; that its promise was kept, and what
leaks in spite of it, is checked by `split/check.py`, the same for all strategies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal, Protocol, get_args

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.registry import Registry
from claimlab.split.material import DEFAULT, Kept, Material, Shares, Side

Mode = Literal["leave-one-out", "train-on-one"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class Request:
    """What was asked for. A strategy lists in `takes` what it can honour; asking it for anything
    else is an error.
    """

    shares: Shares = DEFAULT
    seed: int = 0
    keep_together: tuple[Kept, ...] | None = None  # null: as the strategy does it by itself
    hold_out: tuple[str, ...] = ()
    train_on: tuple[str, ...] = ()
    mode: Mode = "leave-one-out"
    column: str | None = None
    before: date | None = None
    lists: Path | None = None
    setting: str | None = None
    small_test: int | None = None


@dataclass(frozen=True)
class Parts:
    """Where every row goes, and what is promised of it.

    `side` is train, dev, test or null (unused). `whole`: rows with equal values are on one side.
    `apart`: values that occur in test occur in neither train nor dev. `left_out` counts unused rows
    by the reason. `name` tells this split from others made of the same data.
    """

    side: pl.Series
    name: str
    whole: pl.Series | None = None
    apart: pl.Series | None = None
    held_out: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    required: tuple[Side, ...] = ("train", "test")  # sides without which it is not a split


class Strategy(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def takes(self) -> frozenset[str]: ...  # fields of Request beyond shares and seed

    def split(self, material: Material, request: Request) -> Parts: ...


class Impossible(DataError):
    """This strategy cannot split this data; the message says why."""


SPLITTERS: Registry[Strategy] = Registry(
    "split strategy",
    package="claimlab.split.strategies",
    attribute="STRATEGY",
    group="claimlab.splitters",
)
