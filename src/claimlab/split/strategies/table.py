"""The strategies that differ by what they keep together, or by the column whose values they hold
out.

Strategies that deal whole units of rows by the shares: single rows, groups, clusters, pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.core.errors import UsageError
from claimlab.core.languages import require
from claimlab.core.record import column_values
from claimlab.core.stats.deal import Codes
from claimlab.core.stats.scores import Flags
from claimlab.split.hold_out import TAKES, HoldOut, LanguageTable, Trait, resource_of
from claimlab.split.material import SIDES, Kept, Material
from claimlab.split.strategy import Impossible, Parts, Request, Strategy
from claimlab.text.urls import domains


@dataclass(frozen=True)
class Whole:
    """Rows bound by `together` stay on one side; sides get their share of every class and
    language.
    """

    name: str
    summary: str
    together: tuple[Kept, ...] = ()
    takes: frozenset[str] = frozenset({"keep_together"})

    def split(self, material: Material, request: Request) -> Parts:
        units = material.bound(
            self.together if request.keep_together is None else request.keep_together
        )
        return self.dealt(material, request, units, np.ones(material.n, np.bool_))

    def dealt(self, material: Material, request: Request, units: Codes, rows: Flags) -> Parts:
        if len(np.unique(units[rows])) < 2:
            if int(rows.sum()) < 2 or not self.together:
                raise Impossible("One row cannot be split.", "Give a dataset with more records.")
            raise Impossible(
                f"A split by {self.name} needs two sets of rows at least; here all rows belong"
                " together.",
                'Use another strategy, such as `by="random"`.',
            )
        shares = request.shares
        side = material.dealt(units, rows, (shares.train, shares.dev, shares.test), request.seed)
        return Parts(
            side=side, name=self.name, whole=pl.Series(units), notes=tuple(far_off(side, request))
        )


def far_off(side: pl.Series, request: Request) -> list[str]:
    """A note on sides that got less than half of their share, because groups are too large."""
    used = max(1, side.len() - side.null_count())
    got = {name: int((side == name).sum()) / used for name in SIDES}
    wanted = {name: getattr(request.shares, name) for name in SIDES}
    return [
        f"What belongs together is too large for {name}: it got {100 * got[name]:.1f}% instead of"
        f" {100 * share:.0f}%."
        for name, share in wanted.items()
        if got[name] < share / 2
    ]


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
