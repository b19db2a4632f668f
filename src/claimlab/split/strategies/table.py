"""The strategies that differ by what they keep together, or by the column whose values they hold
out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.errors import UsageError
from claimlab.core.languages import require
from claimlab.split.hold_out import TAKES, HoldOut, Trait, with_dev
from claimlab.split.language_table import LanguageTable, resource_of
from claimlab.split.strategy import (
    Material,
    Parts,
    SplitRequest,
    Strategy,
    named,
)
from claimlab.split.time_cut import CutInTime
from claimlab.split.units import Balanced, WholePairs, WholeUnits
from claimlab.text.urls import domains


@dataclass(frozen=True)
class External:
    """Trained and tuned here, tested on what others collected."""

    name: str
    summary: str
    takes: frozenset[str] = frozenset({"keep_together"})

    def split(self, material: Material, request: SplitRequest) -> Parts:
        if material.external is None:
            raise UsageError("Which dataset is the test?", "Pass it as `external`.")
        side, notes = with_dev(material, request, ~material.external)
        side[material.external] = 2
        tested = material.records["dataset"].filter(pl.Series(material.external)).unique().sort()
        return Parts(
            side=named(side),
            name=f"external:test={'+'.join(tested)}",
            apart=pl.Series(np.where(material.external, "the other dataset", "this dataset")),
            held_out=tuple(tested),
            notes=notes,
        )


def values_of(column: str, missing: str) -> Callable[[Material, SplitRequest], Trait]:
    return lambda material, request: Trait(material.records[column], missing)


def domain(material: Material, request: SplitRequest) -> Trait:
    return Trait(domains(material.records["url"]), "the row has no URL with a domain")


def named_column(material: Material, request: SplitRequest) -> Trait:
    if request.column is None:
        raise UsageError(
            "No column given.", "Pass `column`, such as topic, to hold out its values."
        )
    values = column_values(material.records, request.column).cast(pl.String)
    return Trait(values, f"the row has no '{request.column}'")


ENTRIES: list[Strategy] = [
    # Whole units assigned by the shares.
    WholeUnits(
        "random",
        "Rows at random, even by class and language; copies and groups are separated (the naive"
        " split).",
    ),
    WholeUnits(
        "group",
        "Whole groups and exact copies on one side, even by class and language.",
        ("group", "exact"),
    ),
    WholeUnits(
        "near-duplicates",
        "Whole clusters of near-duplicate texts (and groups) on one side, even by class and"
        " language.",
        ("group", "exact", "near-duplicates"),
    ),
    WholePairs(
        "pair",
        "Pairs (a group that holds one row of each class) kept whole; broken pairs are left out.",
        ("group", "exact"),
    ),
    # Whole values of a column held out.
    HoldOut(
        "source",
        "Whole sources held out: test records come from new publishers.",
        values_of("source", "the row has no source"),
    ),
    HoldOut(
        "domain",
        "Whole web domains held out, by the URL of the row (www.bbc.co.uk is bbc.co.uk).",
        domain,
    ),
    HoldOut(
        "event",
        "Whole events (the column 'group') held out: test records are about new events.",
        values_of("group", "the row belongs to no group"),
    ),
    HoldOut(
        "column",
        "Whole values of any column held out; name it with `column` (topic, author, meta.KEY).",
        named_column,
        takes=TAKES | {"column"},
    ),
    HoldOut(
        "language",
        "Whole languages held out; a language may be named as pt, por or Portuguese.",
        values_of("language", "the row has no language"),
        spelling=require,
        across_languages=True,
    ),
    External("external", "This dataset is train and dev, another is test (`external`)."),
    Balanced(
        "balanced",
        "A small test, 50 rows per class and language (`small_test`); at most half of what there"
        " is.",
    ),
    CutInTime(
        "time",
        "Train before, dev next, test after; the cut is a day (by the shares, or `before`).",
    ),
    # Properties of held-out languages, from the language table.
    HoldOut(
        "family",
        "Whole families of languages held out (Indo-European, Turkic, Uralic, ...).",
        LanguageTable("family", "family"),
        across_languages=True,
    ),
    HoldOut(
        "script",
        "Whole scripts held out (Latn, Cyrl, Arab, Deva, ...).",
        LanguageTable("script", "script"),
        across_languages=True,
    ),
    HoldOut(
        "word-order",
        "Languages of a word order held out (SVO, SOV, VSO, ...).",
        LanguageTable("word-order", "word_order"),
        across_languages=True,
    ),
    HoldOut(
        "head-to-tail",
        "Train on languages with many resources (head), test on those with few (tail).",
        LanguageTable("head-to-tail", "resource", resource_of),
        default=("tail",),
        across_languages=True,
    ),
]
