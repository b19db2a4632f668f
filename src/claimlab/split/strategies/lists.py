"""A split that others published, by its lists of ids: BLUFF's uuid lists, a file per side, or a
table.
"""

from __future__ import annotations

import polars as pl

from claimlab.split.lists import open_lists
from claimlab.split.material import Material
from claimlab.split.strategy import Impossible, Parts, Request


class Lists:
    name = "lists"
    summary = (
        "As published lists say (`lists`: a file or a BLUFF tree; else the dataset's own;"
        " `setting`: which one)."
    )
    takes = frozenset({"lists", "setting"})

    def split(self, material: Material, request: Request) -> Parts:
        lists = open_lists(request.lists, request.setting, material.tables)
        rows = lists.rows.unique(maintain_order=True)
        torn = rows.filter(pl.col("key").is_duplicated())["key"].unique()
        once = rows.filter(~pl.col("key").is_duplicated())
        listed = rows["key"].unique()
        column = max(
            ("id", "group"),
            key=lambda c: int(listed.is_in(material.records[c].drop_nulls().to_list()).sum()),
        )
        keys = material.records[column]
        orphans = listed.len() - int(listed.is_in(keys.drop_nulls().to_list()).sum())
        if orphans == listed.len():
            raise Impossible(
                f"None of the {listed.len():,} ids in the lists is in the data.",
                "Check that they belong together.",
            )
        side = keys.replace_strict(once["key"], once["split"], default=None, return_dtype=pl.String)
        doubled = keys.is_in(torn.to_list()).fill_null(False)
        reasons = {
            "its id is in several lists": int(doubled.sum()),
            "its id is in no list": int((side.is_null() & ~doubled).sum()),
        }
        notes = [
            f"The lists are keyed by '{column}': {listed.len():,} ids, {orphans:,} of them not in"
            " the data."
        ]
        if "test" not in set(rows["split"].to_list()):
            notes.append("No list for test: the authors withhold it, or it was not given.")
        return Parts(
            side=side.alias("split"),
            name=f"lists:{lists.setting}" if lists.setting else "lists",
            whole=keys,
            left_out={why: n for why, n in reasons.items() if n},
            notes=tuple(notes),
            required=("train",),
        )


STRATEGY = Lists()
