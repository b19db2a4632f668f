"""A table with a row for each item and system: CSV, or JSON Lines."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject
from claimlab.evaluate.items import ItemFormat, ItemScore, as_score, lines_of

SCORES = ("score", "correct")


class TableOfItems(ItemFormat):
    summary = "a CSV or JSON Lines file with item, system, and correct or score"

    def fits(self, file: Path) -> bool:
        first = next(rows_of(file), {})
        return {"item", "system"} <= set(first) and any(name in first for name in SCORES)

    def read(self, file: Path) -> Iterator[ItemScore]:
        for number, row in enumerate(rows_of(file), 1):
            score = as_score(next(row[name] for name in SCORES if name in row))
            if score is None:
                raise DataError(
                    f"Row {number} of '{file.name}' has no result that is a number, true or false.",
                    "Write 1 or 0, true or false, or a score from 0 to 1.",
                )
            group = row.get("group")
            yield ItemScore(
                str(row["item"]), str(row["system"]), score, str(group) if group else None
            )


FORMAT = TableOfItems()


def rows_of(file: Path) -> Iterator[JsonObject]:
    suffix = file.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        yield from lines_of(file)
    elif suffix in (".csv", ".tsv"):
        with file.open(encoding="utf-8-sig", newline="") as lines:
            yield from csv.DictReader(lines, delimiter="\t" if suffix == ".tsv" else ",")
