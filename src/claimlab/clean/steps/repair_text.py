"""Repair broken encodings and remove invisible characters; emoji are kept."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from claimlab.clean.step import CleanStep
from claimlab.core.step import Outcome
from claimlab.text.normalise import repair_mojibake, strip_invisible


class RepairText(CleanStep):
    name: ClassVar[str] = "repair-text"
    summary: ClassVar[str] = (
        "Repairs mojibake and removes invisible and control characters; emoji are kept."
    )

    mojibake: bool = True
    invisible: bool = True

    def apply(self, records: pl.DataFrame) -> Outcome:
        texts = records["text"]
        repaired = repair_mojibake(texts) if self.mojibake else texts
        visible = strip_invisible(repaired) if self.invisible else repaired
        frame = pl.DataFrame(
            {"id": records["id"], "before": texts, "repaired": repaired, "after": visible}
        )
        touched = frame.filter(pl.col("before") != pl.col("after"))
        blank = touched.filter(pl.col("after").str.strip_chars() == "")
        changed = [
            (
                row["id"],
                "text",
                row["before"],
                row["after"],
                _why(row["before"], row["repaired"], row["after"]),
            )
            for row in touched.join(blank, on="id", how="anti", maintain_order="left").iter_rows(
                named=True
            )
        ]
        dropped = dict.fromkeys(blank["id"].to_list(), "contains only invisible characters")
        return Outcome.of(
            records,
            kept=records.with_columns(visible.alias("text")),
            dropped=dropped,
            changed=changed,
        )


def _why(before: str, repaired: str, after: str) -> str:
    parts = ["broken encoding repaired"] if before != repaired else []
    return " and ".join([*parts, *(["invisible characters removed"] if repaired != after else [])])


STEP = RepairText
