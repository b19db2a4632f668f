"""Row by row, by lot: the naive split of the field. What belongs together is parted, and the check says how much."""

from __future__ import annotations

from claimlab.split.whole import Whole


class Random(Whole):
    name = "random"
    summary = "Rows by lot, even by class and language; copies and groups are parted (the naive split)."


WAY = Random()
