"""Results that others published item by item: read, put on one board, and ranked like runs of our
own.

A format is one file in `evaluate/item_formats/` with a module-level FORMAT: it says whether a file
is of its kind, and gives one row for each item and system. Several goes at an item are averaged.
Systems are compared on the items that all of them have, and the board says how many those are: an
item that a system lacks is neither solved nor failed by it.
"""

from __future__ import annotations

import json
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np
import polars as pl

from claimlab.core import packaged
from claimlab.core.errors import DataError
from claimlab.core.registry import Registry
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.interval import Resampling, effective_groups, interval, wilson
from claimlab.core.stats.possible import SCORES, possible, possible_together, printed_range
from claimlab.core.stats.ranks import draw_means
from claimlab.core.types import Json, JsonObject
from claimlab.core.units import Units
from claimlab.core.words import several, several_of
from claimlab.evaluate.board import Board, RunStanding, placed
from claimlab.evaluate.common_draws import Drawn
from claimlab.evaluate.sufficiency import LEAST_RECORDS

ITEMS, MEAN = "items", "mean score"
MOST_BYTES = 400_000_000  # bytes of one file
CLASS_COUNTS = ("positives", "negatives")
WORDS = {
    **dict.fromkeys(("c", "correct", "true", "yes"), 1.0),
    **dict.fromkeys(("i", "incorrect", "false", "no", "n"), 0.0),
    "p": 0.5,
}
FORMATS: Registry[ItemFormat] = Registry(
    "item format",
    package="claimlab.evaluate.item_formats",
    attribute="FORMAT",
    group="claimlab.item_formats",
)


class ItemScore(NamedTuple):
    """What one system scored at one item, from 0 to 1."""

    item: str
    system: str
    score: float
    group: str | None = None
    metric: str = MEAN


class ItemFormat(ABC):
    """One way to publish results item by item."""

    summary: str
    names_all: bool = True  # False: an item that a file does not name was not solved

    @abstractmethod
    def fits(self, file: Path) -> bool:
        """Whether a file is of this format, from its name and its beginning.

        Parameters
        ----------
        file : Path
            A file of results.
        """

    @abstractmethod
    def read(self, file: Path) -> Iterator[ItemScore]:
        """Its results.

        Parameters
        ----------
        file : Path
            A file of this format.

        Returns
        -------
        Iterator[ItemScore]
            What each system scored at each item.
        """

    def items(self, file: Path) -> int | None:  # noqa: ARG002
        """How many items there are, where the file names only some of them.

        Parameters
        ----------
        file : Path
            A file of this format.
        """
        return None


def opened(file: Path) -> Json:
    """The JSON in a file; null where it holds none, or where it is too large."""
    if file.suffix.lower() != ".json" or file.stat().st_size > MOST_BYTES:
        return None
    try:
        content: Json = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError):
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
    if not isinstance(value, bool | int | float | str):
        return None
    if isinstance(value, str) and (word := value.strip().lower()) in WORDS:
        return WORDS[word]
    try:
        return float(value)
    except ValueError:
        return None


def rank_items(files: Sequence[Path], **how: Unpack[Resampling]) -> list[Board]:
    """The systems of all files on one board for each metric."""
    if (counts := counted(files)) is not None:
        return [counts]
    formats = [(format_of(file), file) for file in files]
    rows: list[ItemScore] = []
    implied: set[str] = set()  # systems that failed the items that their files do not name
    for form, file in formats:
        of_file = list(form.read(file))
        rows += of_file
        implied |= set() if form.names_all else {row.system for row in of_file}
    types = {"score": pl.Float64, "group": pl.String}
    table = pl.DataFrame(rows, schema=ItemScore._fields, schema_overrides=types, orient="row")
    about = files[0].name if len({file.name for file in files}) == 1 else f"{len(files):,} files"
    total = max(form.items(file) or 0 for form, file in formats)
    empty = Board(ITEMS, about, "score", MEAN, 0, 0, [], why="there are no results.")
    return [
        _ranked(rows_of_metric, replace(empty, title=metric, why=None), implied, total, **how)
        for (metric,), rows_of_metric in table.group_by("metric", maintain_order=True)
    ] or [empty]


def _ranked(
    table: pl.DataFrame, empty: Board, implied: set[str], total: int, **how: Unpack[Resampling]
) -> Board:
    """The board of one metric. Systems in `implied` failed the items that they do not name, of
    `total` in all."""
    systems = table["system"].unique(maintain_order=True).to_list()
    units = table.group_by("item").agg(
        unit=pl.coalesce(
            pl.col("group").drop_nulls().first(), pl.format("item {}", pl.first("item"))
        )
    )
    wide = table.pivot("system", index="item", values="score", aggregate_function="mean")
    wide = wide.with_columns(pl.col(name).fill_null(0.0) for name in systems if name in implied)
    shared = (
        wide.drop_nulls().sort("item").join(units, on="item", how="left", maintain_order="left")
    )
    values, codes = shared.select(systems).to_numpy(), codes_of(shared["unit"])
    unnamed = max(0, total - wide.height)
    if unnamed and implied.issuperset(systems):  # no system solved them
        values = np.concatenate([values, np.zeros((unnamed, len(systems)))])
        codes = np.concatenate([codes, codes.max(initial=-1) + 1 + np.arange(unnamed)])
    board = replace(empty, records=len(values), groups=len(np.unique(codes)))
    if len(values) < (items := wide.height + unnamed):
        about = f"{empty.dataset}, {several_of(len(values), items, 'item')} (shared by all systems)"
        board = replace(board, dataset=about)
    if len(values) < LEAST_RECORDS:
        return replace(board, why=f"the systems share {several(len(values), 'item')}.")
    drawn, sizes = draw_means(values, codes, **how)
    if len(systems) < 2:
        ends = interval(drawn[:, 0], effective_groups(sizes), point=float(values.mean()))
        alone = RunStanding(systems[0], float(values.mean()), ends)
        return replace(board, standings=[alone], why="there is only one system.")
    drawn_units = Units("group", codes)
    scores = Drawn(values.mean(axis=0), drawn, drawn_units, drawn_units.effective)
    return placed(board, systems, scores)[0]


def format_of(file: Path) -> ItemFormat:
    """The format of a file."""
    for form in FORMATS.all().values():
        try:
            if form.fits(file):
                return form
        except UnicodeDecodeError:
            continue  # no format holds such bytes: the sentence below says so
    summaries = "; ".join(form.summary for form in FORMATS.all().values())
    raise DataError(
        f"'{file.name}' has no results item by item that claimlab can read.",
        f"Give one of these: {summaries}.",
    )


def counted(files: Sequence[Path]) -> Board | None:
    """Systems of which only counts and scores are known: what can still be said, and whether the
    scores are possible for the class counts. Null for any other files."""
    if any(file.suffix.lower() != ".csv" for file in files):
        return None
    try:  # as text, because the number of digits that were printed matters
        frames = [pl.read_csv(file, infer_schema=False) for file in files]
    except pl.exceptions.PolarsError:
        return None  # an error of the formats that are tried next
    if not all(_has_counts(frame.columns) for frame in frames):
        return None
    rows = pl.concat(frames, how="diagonal").to_dicts()
    if not rows:
        raise DataError("The table of scores has no rows.", "Write one row for each system.")
    standings, sizes, impossible = [], [], []
    for row in rows:
        n = _size(row)
        _check_scores(row)
        low, high = printed_range(row["accuracy"])
        score = (2 * low + high) / 3  # what was printed
        sizes.append(n)
        standings.append(RunStanding(row["system"], score, wilson(round(score * n), n)))
        if _checked(row) is False:
            impossible.append(row["system"])
    ordered = sorted(standings, key=lambda standing: -standing.score)
    bound = 1.96 * float(np.sqrt(1 / min(sizes)))
    why = (
        "only counts are known, so runs cannot be compared item by item. A difference above"
        f" {100 * bound:.1f} points is clear whatever items the systems share; smaller ones need"
        " the results of each item."
    )
    if impossible:
        why += (
            f" The scores of {', '.join(impossible)} are impossible: no confusion table of these"
            " class counts gives all of them."
        )
    n = max(sizes)
    return Board("counts", files[0].name, "accuracy", "accuracy", n, n, ordered, why=why)


def _has_counts(columns: Sequence[str]) -> bool:
    present = set(columns)
    return {"system", "accuracy"} <= present and ("n" in present or set(CLASS_COUNTS) <= present)


def _size(row: JsonObject) -> int:
    """How many items a system was scored on."""
    names = ["n"] if row.get("n") else CLASS_COUNTS
    counts = [row.get(name) or "" for name in names]
    if all(count.strip().isdecimal() for count in counts):
        size = sum(int(count) for count in counts)
        if size:
            return size
    raise DataError(
        f"The row of '{row['system']}' has no whole number of items above 0.",
        f"Fill in `n`, or {' and '.join(f'`{name}`' for name in CLASS_COUNTS)}.",
    )


def _check_scores(row: JsonObject) -> None:
    """Refuse a row without an accuracy, with a score that is not one, or with odd class counts."""
    for name in SCORES:
        text = row.get(name) or ""
        if (text or name == "accuracy") and not _is_share(text):
            raise DataError(
                f"The row of '{row['system']}' has '{text}' as its {name}.",
                "Write a share (0.84) or a percentage (84.1).",
            )
    counts = [row.get(name) or "" for name in CLASS_COUNTS]
    if any(counts) and not all(count.strip().isdecimal() for count in counts):
        raise DataError(
            f"The row of '{row['system']}' has class counts that are not whole numbers.",
            f"Fill in {' and '.join(f'`{name}`' for name in CLASS_COUNTS)}, or leave out both.",
        )


def _is_share(text: str) -> bool:
    try:
        low, high = printed_range(text)
    except ValueError:
        return False
    return low <= 1 and high >= 0


def _checked(row: JsonObject) -> bool | None:
    """Whether the scores of a row are possible for its class counts, else for its size."""
    published = {name: row[name] for name in SCORES if row.get(name)}
    if not row.get("positives"):
        macro_f1 = published.get("macro_f1")
        return possible_together(_size(row), row["accuracy"], macro_f1) if macro_f1 else None
    positives, negatives = (int(row[name]) for name in CLASS_COUNTS)
    return possible(positives, negatives, published)


def check_papers() -> list[JsonObject]:
    """Every row of two classes that the catalogue's papers print with accuracy and macro-F1, as
    text, and whether one confusion table can give both."""
    content = packaged.text("claimlab.catalog", "published.toml")  # 80.00 is not 80.0
    rows = []
    for paper, tables in tomllib.loads(content, parse_float=str).items():
        for table, printed in tables.items():
            for figure in printed["figures"] if printed.get("classes") == 2 else []:
                words = [printed.get("names", {}).get(word, word) for word in figure.values()]
                scores = figure["accuracy"], figure["macro_f1"]
                records = printed.get("records", {}).get(figure.get("dataset"))
                rows.append(
                    {
                        "paper": f"{paper}, {table}",
                        "row": ", ".join(word for word in words if word not in scores),
                        "accuracy": scores[0],
                        "macro_f1": scores[1],
                        "records": records,
                        "possible": possible_together(records, *scores),
                    }
                )
    return rows
