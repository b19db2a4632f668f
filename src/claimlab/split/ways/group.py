"""Whole groups: what the column `group` binds (event, pair, cluster) and exact copies stay on one side."""

from __future__ import annotations

from claimlab.split.whole import Whole


class Group(Whole):
    name = "group"
    summary = "Whole groups and exact copies on one side, even by class and language."
    together = ("group", "exact")


WAY = Group()
