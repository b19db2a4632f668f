"""What every strategy works on and gives: the records, their labels and which rows belong together
in, each worked out once; a side for every row out.

A strategy is a row of `split/strategies/table.py`, or one file there with a module-level STRATEGY
where it needs code of its own. It only says who goes where; that its promise was kept, and what
leaks in spite of it, is checked by `split/check.py`, the same for all strategies.

Shares say how much of the data goes to train, dev and test: "70/10/20", or "80/20" for no dev. A
small balanced test has the same number of rows of every class in every language, drawn by the seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, get_args

import numpy as np
import polars as pl

from claimlab.core.errors import DataError, UsageError
from claimlab.core.registry import Registry
from claimlab.core.stats.codes import Codes, codes_of, linked
from claimlab.core.stats.deal import deal
from claimlab.core.stats.scores import Flags
from claimlab.text.near import NearTexts, near_texts
from claimlab.text.normalise import normal_form

Side = Literal["train", "dev", "test"]
SIDES: tuple[Side, ...] = ("train", "dev", "test")
TODO = "Write train/dev/test such as 70/10/20, or train/test such as 80/20."
UNCELLED = "No {} has both a class and a language to balance by"
SPLITTERS: Registry[Strategy] = Registry(
    "split strategy",
    package="claimlab.split.strategies",
    attribute="STRATEGY",
    group="claimlab.splitters",
)


@dataclass(frozen=True)
class SideShares:
    """Fractions that add up to one. Train and test are never empty; dev may be."""

    train: float
    dev: float
    test: float

    def __post_init__(self) -> None:
        shares = (self.train, self.dev, self.test)
        if not all(math.isfinite(share) and share >= 0 for share in shares) or not (
            self.train and self.test
        ):
            raise UsageError(f"{self} are not valid shares.", TODO)
        if not math.isclose(sum(shares), 1, abs_tol=1e-6):
            raise UsageError(
                f"The shares {self} add up to {100 * sum(shares):g}.", "Make them add up to 100."
            )

    @classmethod
    def parse(cls, text: str) -> SideShares:
        """Two numbers (train/test) or three (train/dev/test), in percent or as fractions: 80/10/10,
        0.8/0.1/0.1.
        """
        try:
            numbers = [float(part) for part in text.split("/")]
        except ValueError:
            numbers = []
        if len(numbers) == 2:
            numbers.insert(1, 0.0)
        if len(numbers) != 3:
            raise UsageError(f"'{text}' are not valid shares.", TODO)
        fractions = math.isclose(sum(numbers), 1, abs_tol=1e-6)
        return cls(*(n if fractions else n / 100 for n in numbers))

    def __str__(self) -> str:
        return "/".join(f"{100 * share:g}" for share in (self.train, self.dev, self.test))

    @property
    def of_rest(self) -> tuple[float, float]:
        """Train and dev as shares of what is not test."""
        rest = self.train + self.dev
        return self.train / rest, self.dev / rest


DEFAULT = SideShares(0.7, 0.1, 0.2)


Kept = Literal["group", "exact", "near-duplicates"]
Mode = Literal["leave-one-out", "train-on-one"]
MODES: tuple[Mode, ...] = get_args(Mode)
KEPT: tuple[Kept, ...] = get_args(Kept)
Stratum = Literal["label", "language"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)


@dataclass(frozen=True)
class Material:
    """`labels` are the task's classes (null: no part of the task). Rows in `only_train` may not be
    tested on.

    One material serves many splits of the same data: what is costly is worked out when it is first
    asked for.
    """

    records: pl.DataFrame
    labels: pl.Series
    classes: tuple[str, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    strata: tuple[Stratum, ...] = STRATA
    only_train: Flags | None = None
    external: Flags | None = None  # rows that come from the other dataset

    @property
    def n(self) -> int:
        return self.records.height

    @cached_property
    def normal_text(self) -> pl.Series:
        return normal_form(self.records["text"])

    @cached_property
    def near(self) -> NearTexts:
        return near_texts(self.normal_text)

    @cached_property
    def cells(self) -> Codes:
        """A code per row for its class and language: what a stratified split shares out evenly."""
        columns = {"label": self.labels, "language": self.records["language"]}
        if not self.strata:
            return np.zeros(self.n, np.int64)
        chosen = pl.DataFrame([columns[s].alias(s) for s in self.strata])
        return codes_of(chosen.select(cell=pl.struct(pl.all()).rank("dense"))["cell"])

    def bound(self, ties: Iterable[Kept]) -> Codes:
        """A code per row; rows that share one belong together by any of `ties`, or through
        others.
        """
        wanted = set(ties)
        columns = []
        if "group" in wanted:
            columns.append(codes_of(self.records["group"]))
        if wanted & {"exact", "near-duplicates"}:
            columns.append(codes_of(self.normal_text))
        if "near-duplicates" in wanted:
            columns.append(self.near.clusters)
        return linked(columns, self.n) if columns else np.arange(self.n, dtype=np.int64)

    def dealt(self, units: Codes, rows: Flags, shares: Sequence[float], seed: int) -> pl.Series:
        """`rows` assigned to train, dev and test by `shares`, whole units and even cells; other
        rows are null.

        A unit with a row that may only train goes to train.
        """
        first = None if self.only_train is None else self.only_train[rows]
        side = np.full(self.n, -1, np.int64)
        side[rows] = deal(self.cells[rows], units[rows], shares, seed, first=first)
        return named(side)


def named(side: Codes) -> pl.Series:
    """Sides by number (0 train, 1 dev, 2 test, -1 unused) as the column `split` has them."""
    words = np.array([*SIDES, None], dtype=object)
    return pl.Series("split", words[side].tolist(), dtype=pl.String)


def numbered(side: pl.Series) -> Codes:
    """`named`, the other way round."""
    numbers = side.replace_strict(SIDES, range(3), default=-1, return_dtype=pl.Int64)
    return numbers.fill_null(-1).to_numpy(writable=True)


def drawn_per_cell(
    material: Material, eligible: Flags, units: Codes, most: int, seed: int, *, at_most: float = 1.0
) -> tuple[Flags, list[str]]:
    """Up to `most` eligible rows of every class and language, and what to say of cells that had
    fewer.

    Rows that belong together are drawn one after another, so that few are left over. `at_most` is
    the share of a cell that may be taken. A row without a class or a language is in no cell.
    """
    rng = np.random.default_rng(seed)
    unit = np.unique(units, return_inverse=True)[1].ravel()
    turn = rng.permutation(int(unit.max(initial=-1)) + 1)[unit]
    frame = pl.DataFrame(
        {
            "row": np.arange(material.n),
            "label": material.labels,
            "language": material.records["language"],
            "turn": turn,
            "eligible": eligible,
        }
    ).drop_nulls(["label", "language"])
    cell = ["label", "language"]
    room = (pl.len().over(cell) * at_most).floor().clip(upper_bound=most).alias("room")
    ordered = frame.with_columns(room).filter("eligible").sort("turn", "row")
    taken = ordered.filter(pl.col("row").cum_count().over(cell) <= pl.col("room"))
    chosen = np.zeros(material.n, np.bool_)
    chosen[taken["row"].to_numpy()] = True
    return chosen, short_cells(frame, taken, cell, most)


def short_cells(
    frame: pl.DataFrame, taken: pl.DataFrame, cell: Sequence[str], most: int
) -> list[str]:
    have = frame.select(cell).unique().join(taken.group_by(cell).len(), on=cell, how="left")
    counted = have.with_columns(pl.col("len").fill_null(0))
    short = counted.filter(pl.col("len") < most).sort("language", "label")
    if not short.height:
        return []
    cells = ", ".join(f"{language} {label} {n}" for label, language, n in short.head(8).iter_rows())
    more = ", ..." if short.height > 8 else ""
    return [
        f"{short.height} of {have.height} cells (class, language) have fewer than {most} test rows:"
        f" {cells}{more}."
    ]


@dataclass(frozen=True)
class SplitRequest:
    """What was asked for. A strategy lists in `takes` what it can honour; asking it for anything
    else is an error.
    """

    shares: SideShares = DEFAULT
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

    def together(self, usual: tuple[Kept, ...]) -> tuple[Kept, ...]:
        """What rows must share to stay on one side: as asked, or as the strategy does it."""
        return usual if self.keep_together is None else self.keep_together


@dataclass(frozen=True)
class Parts:
    """Where every row goes, and what is promised of it.

    `side` is train, dev, test or null (unused). `whole`: rows with equal values are on one side.
    `apart`: values that occur in test occur in neither train nor dev. `left_out` counts unused rows
    by the reason; a reason that no row has is left out. `name` tells this split from others made of
    the same data.
    """

    side: pl.Series
    name: str
    whole: pl.Series | None = None
    apart: pl.Series | None = None
    held_out: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    required: tuple[Side, ...] = ("train", "test")  # sides without which it is not a split

    def __post_init__(self) -> None:
        some = {why: n for why, n in self.left_out.items() if n}
        object.__setattr__(self, "left_out", some)


class Strategy(Protocol):
    """Who goes where: the sides of all rows, by what a user asked for."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def takes(self) -> frozenset[str]: ...  # fields of SplitRequest beyond shares and seed

    def split(self, material: Material, request: SplitRequest) -> Parts:
        """Say where every row goes.

        Parameters
        ----------
        material : Material
            The records with their labels, side tables and what belongs together.
        request : SplitRequest
            The shares, the seed and what else the user asked for.

        Returns
        -------
        Parts
            The side of each row, and what is promised of it.
        """
        ...


class Impossible(DataError):
    """This strategy cannot split this data; the message says why."""
