"""The strategies that differ by what they keep together, or by the column whose values they hold
out.

Strategies that deal whole units of rows by the shares: single rows, groups, clusters, pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.errors import UsageError
from claimlab.core.languages import require
from claimlab.core.stats.scores import Flags
from claimlab.split.hold_out import (
    TAKES,
    TOGETHER,
    HoldOut,
    LanguageTable,
    Trait,
    resource_of,
    with_dev,
)
from claimlab.split.strategy import (
    SIDES,
    UNCELLED,
    Impossible,
    Kept,
    Material,
    Parts,
    Request,
    Strategy,
    drawn_per_cell,
    named,
    numbered,
)
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
        return self.dealt(material, request, np.ones(material.n, np.bool_))

    def dealt(self, material: Material, request: Request, rows: Flags) -> Parts:
        units = material.bound(request.together(self.together))
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
        # groups may be too large for a side to come near its share
        used = max(1, side.count())
        notes = [
            f"What belongs together is too large for {name}: it got {100 * got:.1f}% instead of"
            f" {100 * share:.0f}%."
            for name in SIDES
            if (got := (side == name).sum() / used) < (share := getattr(shares, name)) / 2
        ]
        return Parts(side=side, name=self.name, whole=pl.Series(units), notes=tuple(notes))


class Pair(Whole):
    """A true text and the false one aligned with it are both trained on, or both tested on."""

    def split(self, material: Material, request: Request) -> Parts:
        rows = pl.DataFrame({"group": material.records["group"], "label": material.labels})
        classes = len(material.classes)
        one_of_each = pl.col("label").drop_nulls().n_unique().over("group") == classes
        whole = pl.col("group").is_not_null() & (pl.len().over("group") == classes) & one_of_each
        pairs = rows.select(whole).to_series()
        if classes < 2 or not pairs.any():
            raise Impossible(
                "Cannot split by pair: no value of the column 'group' has exactly one record of"
                " each class.",
                'Split whole groups of any make-up with `by="group"`.',
            )
        parts = self.dealt(material, request, pairs.to_numpy())
        return replace(parts, left_out={"no part of a whole pair": int((~pairs).sum())})


@dataclass(frozen=True)
class External:
    """Trained and tuned here, tested on what others collected."""

    name: str
    summary: str
    takes: frozenset[str] = frozenset({"keep_together"})

    def split(self, material: Material, request: Request) -> Parts:
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


MOST = 50


@dataclass(frozen=True)
class Balanced:
    """A small test with as many rows of every class in every language; the rest is trained on."""

    name: str
    summary: str
    takes: frozenset[str] = frozenset({"small_test", "keep_together"})

    def split(self, material: Material, request: Request) -> Parts:
        most = request.small_test or MOST
        units = material.bound(request.together(TOGETHER))
        trains = material.only_train
        free = np.ones(material.n, np.bool_) if trains is None else ~trains
        test, notes = drawn_per_cell(material, free, units, most, request.seed, at_most=0.5)
        if not test.any():
            cells = material.labels.is_not_null() & material.records["language"].is_not_null()
            small = "Every cell (class, language) is too small to be halved"
            why = small if cells.any() else UNCELLED.format("row")
            raise Impossible(f"{why}.", 'Use `by="random"` or `by="group"`.')
        mates = np.isin(units, units[test]) & ~test
        side = numbered(material.dealt(units, ~test & ~mates, request.shares.of_rest, request.seed))
        side[test] = 2
        return Parts(
            named(side),
            f"balanced:{most}",
            whole=pl.Series(units),
            left_out={"belongs together with a test row": int(mates.sum())},
            notes=tuple(notes),
        )


Days = npt.NDArray[np.datetime64]


@dataclass(frozen=True)
class Time:
    """Train before, test after: cut at a day, so that nothing tested on was published on or before
    a day trained on.
    """

    name: str
    summary: str
    takes: frozenset[str] = frozenset({"before"})

    def split(self, material: Material, request: Request) -> Parts:
        days = material.records["date"].dt.date()
        dated = days.is_not_null().to_numpy()
        mine = days.drop_nulls().to_numpy().astype("datetime64[D]")
        known = np.sort(mine)
        if len(np.unique(known)) < 2:
            reason = f"all dated rows are of {known[0]}" if len(known) else "no row has a date"
            raise Impossible(
                f"Cannot split by time: {reason}.", 'Use another strategy, such as `by="group"`.'
            )
        before = request.before
        test = np.datetime64(before, "D") if before else cut(known, 1 - request.shares.test)
        if not known[0] < test <= known[-1]:
            raise Impossible(
                f"No record is dated before {test}, or none on that day or later.",
                f"The dates go from {known[0]} to {known[-1]}: cut in between.",
            )
        dev, earlier = test, known[known < test]
        if request.shares.dev and earlier[0] < earlier[-1]:
            dev = cut(earlier, request.shares.of_rest[0])
        side = np.full(material.n, -1, np.int64)
        side[dated] = np.where(mine >= test, 2, np.where(mine >= dev, 1, 0))
        dev_words = f", dev on {dev}." if dev < test else "; there is no dev set."
        return Parts(
            side=named(side),
            name=f"time:test-from={test}",
            whole=days.dt.to_string("%Y-%m-%d"),
            held_out=(f"from {test}",),
            left_out={"the row has no date": int((~dated).sum())},
            notes=(
                f"Test starts on {test}{dev_words}",
                f"Dates are: {origins(material.records)}.",
            ),
        )


def cut(days: Days, share: float) -> np.datetime64:
    """The day that parts sorted `days` nearest to `share`: rows of one day stay on one side, and no
    side is empty.
    """
    starts, first = np.unique(days, return_index=True)
    nearest = int(np.abs(first[1:] - share * len(days)).argmin()) + 1
    day: np.datetime64 = starts[nearest]
    return day


def origins(records: pl.DataFrame) -> str:
    """Where the dates come from: a tweet's number and a page's date are not equally sure."""
    dated = records.drop_nulls("date")
    tally = dated.group_by(pl.col("date_source").fill_null("not said")).len()
    tally = tally.sort("len", "date_source", descending=[True, False])
    return ", ".join(f"{source} ({n:,})" for source, n in tally.iter_rows())


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
    Pair(
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
    Time(
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
