"""The strategies that differ by what they keep together, or by the column whose values they hold
out.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from claimlab.core.errors import UsageError
from claimlab.core.languages import require
from claimlab.core.record import column_values
from claimlab.split.hold_out import TAKES, HoldOut, Trait
from claimlab.split.language_table import LanguageTable, resource_of
from claimlab.split.material import Material
from claimlab.split.strategy import Request, Strategy
from claimlab.split.whole import Whole
from claimlab.text.urls import domains


def values_of(column: str, missing: str) -> Callable[[Material, Request], Trait]:
    return lambda material, request: Trait(material.records[column], missing)


def domain(material: Material, request: Request) -> Trait:
    return Trait(domains(material.records["url"]), "the row has no URL with a domain")


def named_column(material: Material, request: Request) -> Trait:
    if request.column is None:
        raise UsageError(
            "No column given.", "Pass `column`, such as topic, to hold out its values."
        )
    values = column_values(material.records, request.column).cast(pl.String)
    return Trait(values, f"the row has no '{request.column}'")


ENTRIES: list[Strategy] = [
    # Whole units assigned by the shares.
    Whole(
        "random",
        "Rows at random, even by class and language; copies and groups are separated (the naive"
        " split).",
    ),
    Whole(
        "group",
        "Whole groups and exact copies on one side, even by class and language.",
        ("group", "exact"),
    ),
    Whole(
        "near-duplicates",
        "Whole clusters of near-duplicate texts (and groups) on one side, even by class and"
        " language.",
        ("group", "exact", "near-duplicates"),
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
