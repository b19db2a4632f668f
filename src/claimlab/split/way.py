"""The contract of a way of splitting: the records and what was asked for in; a side for every row out.

A way is one file in `split/ways/` with a module-level WAY. It only says who goes where; that its promise was kept,
and what leaks in spite of it, is looked at by `split/check.py`, the same for all ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import ClassVar, Literal, Protocol, get_args

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.registry import Registry
from claimlab.split.material import Kept, Material
from claimlab.split.shares import DEFAULT, Shares, Side

Mode = Literal["leave-one-out", "train-on-one"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class Request:
    """What was asked for. A way lists in `takes` what it can honour; asking it for anything else is an error."""

    shares: Shares = DEFAULT
    seed: int = 0
    keep_together: tuple[Kept, ...] | None = None  # null: as the way does it by itself
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

    `side` is train, dev, test or null (unused). `whole`: rows with equal values stand on one side. `apart`: values
    that stand in test stand in neither train nor dev. `left_out` counts unused rows by the reason. `name` tells this
    split from others made of the same data.
    """

    side: pl.Series
    name: str
    whole: pl.Series | None = None
    apart: pl.Series | None = None
    held_out: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    required: tuple[Side, ...] = ("train", "test")  # sides without which it is no split


class Way(Protocol):
    name: ClassVar[str]
    summary: ClassVar[str]
    takes: ClassVar[frozenset[str]]  # fields of Request beyond shares and seed

    def split(self, material: Material, request: Request) -> Parts: ...


class Impossible(DataError):
    """This data cannot be split this way; the message says why."""


SPLITTERS: Registry[Way] = Registry(
    "way of splitting", package="claimlab.split.ways", attribute="WAY", group="claimlab.splitters"
)
