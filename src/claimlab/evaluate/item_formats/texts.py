"""Texts that systems wrote, each next to its reference: the task `normalisation`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from claimlab.evaluate.item_formats.csv_or_lines import rows_of
from claimlab.evaluate.items import ItemFormat, ItemScore
from claimlab.tasks.normalisation import FIGURES


class TableOfTexts(ItemFormat):
    summary = "a CSV or JSON Lines file with item, system, text and reference"

    def fits(self, file: Path) -> bool:
        return {"item", "system", "text", "reference"} <= set(next(rows_of(file), {}))

    def read(self, file: Path) -> Iterator[ItemScore]:
        """Every figure of each text; one that is missing scores 0."""
        for row in rows_of(file):
            text, reference = (str(row[name] or "") for name in ("text", "reference"))
            group = str(row["group"]) if row.get("group") else None
            for name, figure in FIGURES.items():
                score = figure(text, reference)
                yield ItemScore(str(row["item"]), str(row["system"]), score, group, name)


FORMAT = TableOfTexts()
