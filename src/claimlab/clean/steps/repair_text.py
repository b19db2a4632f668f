"""Mend broken encodings and take out characters that nobody sees; emoji stay."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from claimlab.clean.step import CleanStep
from claimlab.core.step import Outcome
from claimlab.text.normalise import strip_invisible
from claimlab.text.repair import repair_mojibake


class RepairText(CleanStep):
    name: ClassVar[str] = "repair-text"
    summary: ClassVar[str] = "Mends mojibake and removes invisible and control characters; emoji stay."

    mojibake: bool = True
    invisible: bool = True

    def apply(self, records: pl.DataFrame) -> Outcome:
        texts = records["text"]
        mended = repair_mojibake(texts) if self.mojibake else texts
        seen = strip_invisible(mended) if self.invisible else mended
        frame = pl.DataFrame({"id": records["id"], "before": texts, "mended": mended, "after": seen})
        touched = frame.filter(pl.col("before") != pl.col("after"))
        blank = touched.filter(pl.col("after").str.strip_chars() == "")
        changed = [
            (row["id"], "text", row["before"], row["after"], _why(row["before"], row["mended"], row["after"]))
            for row in touched.join(blank, on="id", how="anti", maintain_order="left").iter_rows(named=True)
        ]
        dropped = dict.fromkeys(blank["id"].to_list(), "holds only characters that nobody sees")
        return Outcome.of(records, kept=records.with_columns(seen.alias("text")), dropped=dropped, changed=changed)


def _why(before: str, mended: str, after: str) -> str:
    parts = ["broken encoding mended"] if before != mended else []
    return " and ".join([*parts, *(["invisible characters removed"] if mended != after else [])])


STEP = RepairText
