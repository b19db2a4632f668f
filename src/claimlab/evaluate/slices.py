"""A run's scores by language, author, model, year or any other trait; each with n, class counts and
an interval.

All cells of one trait are resampled together, so that their mean and the gap between two of them
have intervals of their own. A cell that is too small says nothing: it is suppressed, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Unpack

import numpy as np
import polars as pl

from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.interval import Interval, Resampling, interval, kinds, redraw
from claimlab.core.stats.scores import UNANSWERED, Flags, Floats, Ints, accuracy, macro_f1, ratio
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.confusion import Statistic
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.sufficiency import LEAST_OF_A_CLASS, LEAST_RECORDS
from claimlab.evaluate.traits import ALIASES, Values


@dataclass(frozen=True)
class SliceCell:
    """`macro_f1` is null where a class is absent: then `why` says so, and accuracy is what there
    is. Where no record was answered, there is neither."""

    value: str
    n: int
    groups: int
    classes: dict[str, int]
    failed: int
    accuracy: float | None  # null where no record was answered
    accuracy_interval: Interval | None
    macro_f1: float | None
    macro_f1_interval: Interval | None
    why: str | None = None


@dataclass(frozen=True)
class SliceEstimate:
    value: float
    interval: Interval | None


@dataclass(frozen=True)
class Gap:
    """The score of head languages less that of tail languages: over all their records, and as means
    of languages.
    """

    pooled: SliceEstimate
    mean_of_languages: SliceEstimate | None


@dataclass(frozen=True)
class Slices:
    """One trait. `mean` is the mean macro-F1 over the cells that have one: each value counts the
    same.
    """

    by: str
    cells: list[SliceCell]
    suppressed: int = 0  # values whose cell is too small
    suppressed_records: int = 0
    without: int = 0  # records without a value
    mean: SliceEstimate | None = None
    gap: Gap | None = None


@dataclass(frozen=True)
class _Parts:
    """The answers of a run in parts: record and value, one pair for each value that a record has;
    values are numbered in `names`.
    """

    answers: Answers
    row: Ints
    value: Ints
    names: list[str]

    @classmethod
    def of(cls, answers: Answers, values: Values) -> _Parts:
        row = values["row"].cast(pl.Int64).to_numpy()
        return cls(
            answers, row, codes_of(values["value"]), values["value"].unique().sort().to_list()
        )

    def only(self, values: Ints) -> _Parts:
        place = np.full(len(self.names), -1)
        place[values] = np.arange(len(values))
        inside = place[self.value] >= 0
        names = [self.names[v] for v in values]
        return replace(self, row=self.row[inside], value=place[self.value][inside], names=names)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the confusion tables: (values, K, K+2)."""
        k = len(self.answers.classes)
        return len(self.names), k, k + 2

    @property
    def cell(self) -> Ints:
        """The cell of all tables together that each pair falls into."""
        return self.value * self.answers.cells + self.answers.cell[self.row]

    def tables(self) -> Ints:
        return np.bincount(self.cell, minlength=prod(self.shape)).reshape(self.shape)

    def units(self) -> list[tuple[int, float]]:
        """How many units have records with each value, and how many effective ones these are."""
        many = int(self.answers.cluster.max(initial=0)) + 1
        both, size = np.unique(
            self.value * many + self.answers.cluster[self.row], return_counts=True
        )
        value, values = both // many, len(self.names)
        counts = np.bincount(value, minlength=values)
        total = np.bincount(value, weights=size, minlength=values)
        squares = np.bincount(value, weights=np.square(size), minlength=values)
        effective = np.square(total) / np.maximum(squares, 1)
        return list(zip(counts.tolist(), effective.tolist(), strict=True))

    def redraw(self, figure: Statistic, **how: Unpack[Resampling]) -> tuple[Floats, float]:
        """`figure` of the tables under common draws of units, and how many effective ones were
        drawn.
        """
        table = kinds(self.answers.cluster[self.row], self.cell, prod(self.shape))
        drawn = redraw(table, lambda flat: figure(flat.reshape(-1, *self.shape)), **how)
        return drawn, table.effective


def slice_run(run: ScoredRun, by: str, **how: Unpack[Resampling]) -> Slices:
    """The scores of `run` for each value of `by`."""
    by = ALIASES.get(by, by)
    values = run.trait(by)
    parts = _Parts.of(run.answers, values)
    without = run.table.height - values["row"].n_unique()
    counts = parts.tables()
    big = _big(counts)
    small = np.unique(parts.row[~big[parts.value]]) if len(parts.row) else parts.row
    if not big.any():
        return Slices(by, [], int((~big).sum()), len(small), without)
    large = parts.only(np.flatnonzero(big))
    drawn, in_all = _redrawn(run, large, **how)
    f1s, shares = np.split(drawn, 2, axis=1)
    columns = zip(large.names, large.units(), counts[big], f1s.T, shares.T, strict=True)
    cells = [_cell(run.answers.classes, *column) for column in columns]
    # times in their order, all else the largest first
    in_order = by in ("year", "month")
    order = sorted(
        range(len(cells)), key=lambda i: (0 if in_order else -cells[i].n, cells[i].value)
    )
    fit = [i for i in order if cells[i].macro_f1 is not None]
    mean = None
    if len(fit) > 1:
        value = float(np.mean([cells[i].macro_f1 for i in fit]))
        mean = SliceEstimate(value, interval(_known_mean(f1s[:, fit]), in_all))
    gap = head_tail_gap(run, **how) if by == "resource" else None
    shown_cells = [cells[i] for i in order]
    return Slices(by, shown_cells, int((~big).sum()), len(small), without, mean, gap)


def _redrawn(run: ScoredRun, parts: _Parts, **how: Unpack[Resampling]) -> tuple[Floats, float]:
    """Macro-F1 and accuracy of each value. Subgroups that divide the records alike, as language and
    family often do, share their draws."""
    key = hash((str(how), len(parts.names), parts.row.tobytes(), parts.value.tobytes()))
    if key not in run.redrawn:
        run.redrawn[key] = parts.redraw(
            lambda tables: np.concatenate([macro_f1(tables), accuracy(tables)], axis=1),
            **how,
        )
    return run.redrawn[key]


def head_tail_gap(run: ScoredRun, **how: Unpack[Resampling]) -> Gap | None:
    """How much worse a run is on tail languages than on head languages; null when one side is too
    small.
    """
    sides = run.trait("resource").filter(pl.col("value").is_in(["head", "tail"]))
    languages = run.trait("language").rename({"value": "language"})
    named = sides.join(languages, on="row", how="left", maintain_order="left")
    value = pl.concat_str("value", pl.col("language").fill_null(""), separator=" ")
    parts = _Parts.of(run.answers, named.select("row", value=value))
    counts = parts.tables()
    heads = np.array([name.startswith("head") for name in parts.names], dtype=bool)
    if not heads.any() or heads.all():
        return None
    if not _whole(np.stack([counts[heads].sum(axis=0), counts[~heads].sum(axis=0)])).all():
        return None
    # a language that is not known is no language
    fit = _whole(counts) & np.array([not name.endswith(" ") for name in parts.names])
    by_language = bool((fit & heads).any() and (fit & ~heads).any())

    def gaps(tables: Floats) -> Floats:
        pooled = macro_f1(tables[:, heads].sum(axis=1)) - macro_f1(tables[:, ~heads].sum(axis=1))
        if not by_language:
            return pooled[:, None]
        f1 = macro_f1(tables)
        means = _known_mean(f1[:, fit & heads]) - _known_mean(f1[:, fit & ~heads])
        return np.stack([pooled, means], axis=1)

    drawn, units = parts.redraw(gaps, **how)
    estimates = [
        SliceEstimate(float(point), interval(drawn[:, i], units))
        for i, point in enumerate(gaps(counts[None].astype(np.float64))[0])
    ]
    return Gap(estimates[0], estimates[1] if by_language else None)


def contrast(
    run: ScoredRun, by: str, one: str, other: str, **how: Unpack[Resampling]
) -> SliceEstimate | None:
    """The macro-F1 of the records with the value `one` less that of those with `other`; null where
    a side is small.
    """
    parts = _Parts.of(run.answers, run.trait(by).filter(pl.col("value").is_in([one, other])))
    counts = parts.tables()
    if len(parts.names) < 2 or not _whole(counts).all():
        return None
    sign = 1.0 if parts.names[0] == one else -1.0

    def less(tables: Floats) -> Floats:
        f1 = macro_f1(tables)
        return np.asarray(sign * (f1[:, 0] - f1[:, 1]))

    drawn, units = parts.redraw(less, **how)
    return SliceEstimate(float(less(counts[None].astype(np.float64))[0]), interval(drawn, units))


def _big(counts: Ints) -> Flags:
    """Cells with records enough, and no class that is there in a handful only."""
    sizes = counts.sum(axis=2)
    return np.asarray(
        (sizes.sum(axis=1) >= LEAST_RECORDS)
        & ~((sizes > 0) & (sizes < LEAST_OF_A_CLASS)).any(axis=1)
    )


def _whole(counts: Ints) -> Flags:
    """Cells that hold every class, and an answer: only their macro-F1 can be compared with that of
    the whole.
    """
    spoke = counts[:, :, :-1].sum(axis=(1, 2)) > 0
    return np.asarray(_big(counts) & spoke & (counts.sum(axis=2) >= LEAST_OF_A_CLASS).all(axis=1))


def _cell(
    classes: tuple[str, ...],
    value: str,
    units: tuple[int, float],
    table: Ints,
    f1s: Floats,
    shares: Floats,
) -> SliceCell:
    groups, effective = units
    sizes: dict[str, int] = dict(zip(classes, table.sum(axis=1).tolist(), strict=True))
    spoke = bool(table[:, :-1].sum())
    whole = spoke and all(sizes.values())
    present = [name for name, n in sizes.items() if n]
    why = f"It holds no {', '.join(name for name, n in sizes.items() if not n)}."
    if not spoke:
        why = f"{UNANSWERED[0].upper()}{UNANSWERED[1:]}."
    elif len(present) == 1:
        why = f"All are {present[0]}: accuracy is its recall."
    return SliceCell(
        value=value,
        n=sum(sizes.values()),
        groups=groups,
        classes=sizes,
        failed=int(table[:, -1].sum()),
        accuracy=float(accuracy(table)) if spoke else None,
        accuracy_interval=interval(shares, effective) if spoke else None,
        macro_f1=float(macro_f1(table)) if whole else None,
        macro_f1_interval=interval(f1s, effective) if whole else None,
        why=None if whole else why,
    )


def _known_mean(f1s: Floats) -> Floats:
    """Mean over the cells that a resample holds; NaN when it holds none."""
    measured = ~np.isnan(f1s)
    return ratio(np.where(measured, f1s, 0.0).sum(axis=1), measured.sum(axis=1), nothing=np.nan)
