"""A split audited as it is made: was the promise kept, what is in every cell, what leaks.

A broken promise (a held-out value in train) is a fault of the strategy and raises. A class that
cannot be learnt makes the split impossible. What is merely unfortunate (a class missing from test,
a leak the strategy does not prevent) is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from claimlab.core.errors import ClaimlabError
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.split.leaks import Leak, find_leaks
from claimlab.split.material import Material
from claimlab.split.shares import SIDES
from claimlab.split.strategy import Impossible, Parts

CELLS = {"split": pl.String, "label": pl.String, "language": pl.String, "records": pl.Int64}


@dataclass(frozen=True)
class Checked:
    """`cells` counts rows per side, class and language (null: not known). `unused` rows are on no
    side.
    """

    cells: pl.DataFrame
    leaks: tuple[Leak, ...]
    unused: int
    notes: tuple[str, ...]

    @property
    def leaking(self) -> bool:
        return any(self.leaks)

    def sides(self) -> dict[str, int]:
        tally = dict(self.cells.group_by("split").agg(pl.col("records").sum()).iter_rows())
        return {side: tally.get(side, 0) for side in SIDES}

    def counts(self) -> dict[str, int]:
        """For the lineage, where every count is a whole number; what was not measured is absent."""
        out = {**self.sides(), "unused": self.unused}
        for leak in self.leaks:
            for kind in ("exact", "near", "group"):
                n = getattr(leak, kind)
                if n is not None:
                    out[f"{leak.of}_in_{leak.seen_in}_{kind}"] = n
        return out

    def to_json(self) -> JsonObject:
        return {
            "sides": self.sides(),
            "unused": self.unused,
            "cells": self.cells.to_dicts(),
            "leaks": [leak.to_json() for leak in self.leaks],
            "leaking": self.leaking,
            "notes": list(self.notes),
        }


def check(material: Material, parts: Parts) -> Checked:
    """Look at a finished split; raise where it breaks its promise or cannot be used."""
    keep_promise(parts)
    cells = cells_of(material, parts.side)
    classes_learnable(material, parts, cells)
    leaks = tuple(find_leaks(material, parts.side))
    return Checked(
        cells=cells,
        leaks=leaks,
        unused=parts.side.null_count(),
        notes=(
            *missing_classes(material, cells),
            *leaking_test(leaks),
            *unmeasured(material, leaks),
            *unknown_languages(material),
        ),
    )


def keep_promise(parts: Parts) -> None:
    """Held-out values truly absent from train and dev; what was to stay together truly on one
    side.
    """
    broken: list[Any] = []
    if parts.whole is not None:
        sides = pl.DataFrame({"value": parts.whole, "side": parts.side}).drop_nulls().unique()
        broken += sides.filter(pl.col("value").is_duplicated())["value"].unique().sort().to_list()
    if parts.apart is not None:
        sides = (
            pl.DataFrame({"value": parts.apart, "test": parts.side == "test"}).drop_nulls().unique()
        )
        broken += sides.filter(pl.col("value").is_duplicated())["value"].unique().sort().to_list()
    if broken:
        raise ClaimlabError(
            f"The split '{parts.name}' does not keep its promise: {len(broken)} values, such as"
            f" '{broken[0]}', are on two sides.",
            "This is a fault in the strategy: report it, and do not use the split.",
        )


def cells_of(material: Material, side: pl.Series) -> pl.DataFrame:
    """Rows per side, class and language, in the order train, dev, test."""
    frame = pl.DataFrame(
        {"split": side, "label": material.labels, "language": material.records["language"]}
    )
    order = pl.col("split").replace_strict(
        {s: i for i, s in enumerate(SIDES)}, return_dtype=pl.Int64
    )
    tally = (
        frame.drop_nulls("split")
        .group_by("split", "label", "language")
        .agg(pl.len().alias("records"))
    )
    return tally.sort(order, "label", "language", nulls_last=True).cast(pl.Schema(CELLS))


def classes_learnable(material: Material, parts: Parts, cells: pl.DataFrame) -> None:
    for side in parts.required:
        if not cells.filter(pl.col("split") == side).height:
            raise Impossible(
                f"The split '{parts.name}' leaves nothing for {side}.",
                "Change the shares or what is held out.",
            )
    trained = set(cells.filter(pl.col("split") == "train")["label"].drop_nulls().to_list())
    gone = [c for c in material.classes if c not in trained]
    if gone:
        raise Impossible(
            f"The split '{parts.name}' leaves no row of {' and '.join(map(repr, gone))} in train,"
            " so the class cannot be learned.",
            "Hold out something else, use other shares, or choose the classes with `task`.",
        )


def missing_classes(material: Material, cells: pl.DataFrame) -> list[str]:
    if not material.classes:
        return ["No row has a label: classes were neither balanced nor counted."]
    out = []
    for side in SIDES[1:]:
        mine = cells.filter(pl.col("split") == side)
        gone = [c for c in material.classes if c not in set(mine["label"].to_list())]
        if mine.height and gone:
            names, are = (
                " and ".join(map(repr, gone)),
                "class {} is" if len(gone) == 1 else "classes {} are",
            )
            out.append(f"The {are.format(names)} missing from {side}.")
    if len(material.classes) == 1:
        out.append(
            f"There is only one class ('{material.classes[0]}'): a detector cannot be trained or"
            " tested."
        )
    return out


def leaking_test(leaks: tuple[Leak, ...]) -> list[str]:
    """One sentence for each side that gives test rows away, and what to do about it."""
    cure = 'use `by="near-duplicates"`, or pass `drop_leaks=True`'
    notes = []
    for leak in (leak for leak in leaks if leak.of == "test"):
        if leak.texts:
            of = several_of(leak.texts, leak.rows, "test record")
            has = verb(leak.texts, "has", "have")
            notes.append(f"{of} {has} a near-duplicate in {leak.seen_in}; {cure}.")
        elif leak.group:
            of = several_of(leak.group, leak.rows, "test record")
            shares = verb(leak.group, "shares", "share")
            notes.append(f'{of} {shares} a group with {leak.seen_in}; use `by="group"`.')
    return notes


def unmeasured(material: Material, leaks: tuple[Leak, ...]) -> list[str]:
    """What the leaks do not cover: rows without text are never called free of copies."""
    bare = material.records["text"].null_count()
    if leaks and all(leak.exact is None for leak in leaks):
        return ["No row has a text: copies and near-duplicates across sides were not measured."]
    return [f"{several(bare, 'row')} without text: copies were not searched for."] if bare else []


def unknown_languages(material: Material) -> list[str]:
    """Rows without a language are shared out together, which is no language of its own."""
    bare = material.records["language"].null_count()
    if "language" not in material.strata or bare in (0, material.n):
        return []
    of = several_of(bare, material.n, "record")
    return [f"{of} {verb(bare, 'has', 'have')} no language: they were shared out by class only."]
