"""Whole clusters of near-duplicates, with groups and exact copies: nothing nearly the same on two sides."""

from __future__ import annotations

from claimlab.split.whole import Whole


class NearDuplicates(Whole):
    name = "near-duplicates"
    summary = "Whole clusters of near-duplicate texts (and groups) on one side, even by class and language."
    together = ("group", "exact", "near-duplicates")


WAY = NearDuplicates()
