"""Results that others published item by item: read, put on one board, and ranked like runs of our
own.

A format is one file in `evaluate/item_formats/` with a module-level FORMAT: it says whether a file
is of its kind, and gives one row for each item and system. Several goes at an item are averaged.
Systems are compared on the items that all of them have.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.registry import Registry
from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.interval import DRAWS, wilson
from claimlab.core.stats.ranks import draw_means
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several
from claimlab.evaluate.answers import SMALLEST
from claimlab.evaluate.board import Board, Standing, placed
from claimlab.evaluate.compare import Drawn

ITEMS, MEAN = "items", "mean score"
LARGEST = 400_000_000  # bytes of one file


@dataclass(frozen=True)
class Item:
    """What one system scored at one item, from 0 to 1."""

    item: str
    system: str
    score: float
    group: str | None = None


class ItemFormat(ABC):
    """One way to publish results item by item."""

    summary: str
    names_all: bool = True  # False: an item that a file does not name was not solved

    @abstractmethod
    def fits(self, file: Path) -> bool:
        """Whether a file is of this format, from its name and its beginning."""

    @abstractmethod
    def read(self, file: Path) -> Iterator[Item]:
        """Its results."""

    def items(self, file: Path) -> int | None:  # noqa: ARG002
        """How many items there are, where the file names only some of them."""
        return None


FORMATS: Registry[ItemFormat] = Registry(
    "item format",
    package="claimlab.evaluate.item_formats",
    attribute="FORMAT",
    group="claimlab.item_formats",
)


def opened(file: Path) -> Json:
    """The JSON in a file; null where it holds none, or where it is too large."""
    if file.suffix.lower() != ".json" or file.stat().st_size > LARGEST:
        return None
    try:
        content: Json = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return content


def lines_of(file: Path) -> Iterator[JsonObject]:
    """The objects of a JSON Lines file."""
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise DataError(
                    f"Line {number} of '{file.name}' is not a JSON object.",
                    "Write one object on each line.",
                )
            yield row


def as_score(value: object) -> float | None:
    """A result as a number: right and wrong in the words of the field, or a number itself."""
    if isinstance(value, str):
        words = {"c": 1.0, "correct": 1.0, "true": 1.0, "yes": 1.0, "i": 0.0, "incorrect": 0.0}
        words |= {"false": 0.0, "no": 0.0, "n": 0.0, "p": 0.5}
        known = words.get(value.strip().lower())
        if known is not None:
            return known
        try:
            return float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, bool | int | float) else None


def rank_items(files: Sequence[Path], *, seed: int = 0, draws: int = DRAWS) -> Board:
    """The systems of all files on one board, by their mean score."""
    if (counts := counted(files)) is not None:
        return counts
    formats = [format_of(file) for file in files]
    rows = [row for known, file in zip(formats, files, strict=True) for row in known.read(file)]
    table = pl.DataFrame(
        [(row.item, row.system, row.score, row.group) for row in rows],
        schema={"item": pl.String, "system": pl.String, "score": pl.Float64, "group": pl.String},
        orient="row",
    )
    systems = table["system"].unique(maintain_order=True).to_list()
    units = table.group_by("item").agg(
        unit=pl.coalesce(
            pl.col("group").drop_nulls().first(), pl.format("item {}", pl.first("item"))
        )
    )
    wide = table.pivot("system", index="item", values="score", aggregate_function="mean")
    if not all(known.names_all for known in formats):
        wide = wide.with_columns(pl.col(systems).fill_null(0.0))
    shared = (
        wide.drop_nulls().sort("item").join(units, on="item", how="left", maintain_order="left")
    )
    values, codes = shared.select(systems).to_numpy(), codes_of(shared["unit"])
    total = max((known.items(file) or 0 for known, file in zip(formats, files, strict=True)))
    if (unnamed := total - wide.height) > 0:  # no system solved them
        values = np.concatenate([values, np.zeros((unnamed, len(systems)))])
        codes = np.concatenate([codes, codes.max(initial=-1) + 1 + np.arange(unnamed)])
    names = [file.name for file in files]
    about = names[0] if len(set(names)) == 1 else f"{several(len(files), 'file')}"
    board = Board(ITEMS, about, "score", MEAN, len(values), len(np.unique(codes)), [])
    if len(systems) < 2:
        return replace(board, why="there is only one system.")
    if len(values) < SMALLEST:
        return replace(board, why=f"the systems share {several(len(values), 'item')}.")
    drawn, groups = draw_means(values, codes, seed=seed, draws=draws)
    return placed(board, systems, Drawn(values.mean(axis=0), drawn, groups))[0]


def format_of(file: Path) -> ItemFormat:
    """The format of a file."""
    for known in FORMATS.all().values():
        if known.fits(file):
            return known
    summaries = "; ".join(known.summary for known in FORMATS.all().values())
    raise DataError(
        f"'{file.name}' has no results item by item that claimlab can read.",
        f"Give one of these: {summaries}.",
    )


def counted(files: Sequence[Path]) -> Board | None:
    """Systems of which only the number of items and the accuracy are known: what can still be said.
    Null for any other files."""
    frames = [pl.read_csv(f, infer_schema_length=None) for f in files if f.suffix.lower() == ".csv"]
    if len(frames) < len(files) or not all(
        {"system", "n", "accuracy"} <= set(frame.columns) for frame in frames
    ):
        return None
    rows = pl.concat([f.select("system", "n", "accuracy") for f in frames], how="vertical_relaxed")
    standings = []
    for system, n, share in rows.iter_rows():
        score = float(share) / 100 if float(share) > 1 else float(share)
        standings.append(Standing(str(system), score, wilson(round(score * int(n)), int(n))))
    ordered = sorted(standings, key=lambda one: -one.score)
    sizes = rows["n"].cast(pl.Int64)
    errors = [np.sqrt(0.25 / n) for n in sizes.to_list()]
    bound = 1.96 * 2 * float(np.max(errors))
    why = (
        "only counts are known, so runs cannot be compared item by item. A difference above"
        f" {100 * bound:.1f} points is clear whatever items the systems share; smaller ones need"
        " the results of each item."
    )
    total = max(sizes.to_list())
    return Board("counts", files[0].name, "accuracy", "accuracy", total, total, ordered, why=why)
