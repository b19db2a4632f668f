"""A run's scores by language, author, model, year or any other trait; each with n, class counts and
an interval.

All cells of one trait are resampled together, so that their mean and the gap between two of them
have intervals of their own. A cell that is too small says nothing: it is suppressed, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.stats.interval import DRAWS, Interval, interval, kinds, redraw
from claimlab.core.stats.scores import UNANSWERED, Floats, Ints, accuracy, macro_f1
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.small import SMALLEST, SMALLEST_CLASS
from claimlab.evaluate.traits import ALIASES, Values


@dataclass(frozen=True)
class Cell:
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
class Estimate:
    value: float
    interval: Interval | None


@dataclass(frozen=True)
class Gap:
    """The score of head languages less that of tail languages: over all their records, and as means
    of languages.
    """

    pooled: Estimate
    mean_of_languages: Estimate | None


@dataclass(frozen=True)
class Slices:
    """One trait. `mean` is the mean macro-F1 over the cells that have one: each value counts the
    same.
    """

    by: str
    cells: list[Cell]
    suppressed: int = 0  # values whose cell is too small
    suppressed_records: int = 0
    without: int = 0  # records without a value
    mean: Estimate | None = None
    gap: Gap | None = None


@dataclass(frozen=True)
class _Pairs:
    """Record and value, one pair for each value that a record has; values are numbered in
    `names`.
    """

    row: Ints
    value: Ints
    names: list[str]

    def only(self, values: Ints) -> _Pairs:
        place = np.full(len(self.names), -1)
        place[values] = np.arange(len(values))
        mine = place[self.value] >= 0
        return _Pairs(self.row[mine], place[self.value][mine], [self.names[v] for v in values])


def slice_run(run: ScoredRun, by: str, *, seed: int = 0, draws: int = DRAWS) -> Slices:
    """The scores of `run` for each value of `by`."""
    by = ALIASES.get(by, by)
    values = run.trait(by)
    pairs = _pairs(values)
    without = run.table.height - values["row"].n_unique()
    answers = run.answers
    counts = _tables(answers, pairs)  # (values, K, K+2)
    big = _big(counts)
    shown_pairs = pairs.only(np.flatnonzero(big))
    small = np.unique(pairs.row[~big[pairs.value]]) if len(pairs.row) else pairs.row
    shown = counts[big]
    if not len(shown):
        return Slices(by, [], int((~big).sum()), len(small), without)
    drawn, in_all = _redrawn(run, shown_pairs, seed=seed, draws=draws)
    f1s, shares = drawn[:, : len(shown)], drawn[:, len(shown) :]
    groups = _groups(answers, shown_pairs)
    cells = [
        _cell(answers, name, groups[i], shown[i], f1s[:, i], shares[:, i])
        for i, name in enumerate(shown_pairs.names)
    ]
    cells, order = _ordered(cells, by)
    mean = _mean(cells, f1s[:, order], in_all)
    gap = head_tail_gap(run, seed=seed, draws=draws) if by == "resource" else None
    return Slices(by, cells, int((~big).sum()), len(small), without, mean, gap)


def _redrawn(run: ScoredRun, pairs: _Pairs, *, seed: int, draws: int) -> tuple[Floats, int]:
    """Macro-F1 and accuracy of each value under common draws of groups, and how many groups were
    drawn. Subgroups that divide the records alike, as language and family often do, share their
    draws."""
    key = (seed, draws, len(pairs.names), pairs.row.tobytes(), pairs.value.tobytes())
    if (before := run.redrawn.get(hash(key))) is not None:
        return before
    answers, k = run.answers, len(run.answers.classes)
    cell = pairs.value * answers.cells + answers.cell[pairs.row]
    table = kinds(answers.cluster[pairs.row], cell, len(pairs.names) * answers.cells)

    def both(flat: Floats) -> Floats:
        tables = flat.reshape(-1, len(pairs.names), k, k + 2)
        return np.concatenate([macro_f1(tables), accuracy(tables)], axis=1)

    run.redrawn[hash(key)] = redraw(table, both, seed=seed, draws=draws), table.groups
    return run.redrawn[hash(key)]


def head_tail_gap(run: ScoredRun, *, seed: int = 0, draws: int = DRAWS) -> Gap | None:
    """How much worse a run is on tail languages than on head languages; null when one side is too
    small.
    """
    sides = run.trait("resource").filter(pl.col("value").is_in(["head", "tail"]))
    languages = run.trait("language").rename({"value": "language"})
    named = sides.join(languages, on="row", how="left", maintain_order="left")
    pairs = _pairs(
        named.select(
            "row", value=pl.concat_str("value", pl.col("language").fill_null(""), separator=" ")
        )
    )
    answers = run.answers
    counts = _tables(answers, pairs)
    heads = np.array([name.startswith("head") for name in pairs.names], dtype=bool)
    if not heads.any() or heads.all():
        return None
    enough = _whole(np.stack([counts[heads].sum(axis=0), counts[~heads].sum(axis=0)]))
    if not enough.all():
        return None
    fit = _whole(counts) & np.array(
        [not name.endswith(" ") for name in pairs.names]
    )  # not known is no language
    by_language = bool((fit & heads).any() and (fit & ~heads).any())
    table = kinds(
        answers.cluster[pairs.row],
        pairs.value * answers.cells + answers.cell[pairs.row],
        counts.size,
    )

    def gaps(flat: Floats) -> Floats:
        tables = flat.reshape(-1, *counts.shape)
        pooled = macro_f1(tables[:, heads].sum(axis=1)) - macro_f1(tables[:, ~heads].sum(axis=1))
        if not by_language:
            return pooled[:, None]
        f1 = macro_f1(tables)
        means = _known_mean(f1[:, fit & heads]) - _known_mean(f1[:, fit & ~heads])
        return np.stack([pooled, means], axis=1)

    points = gaps(counts.reshape(1, -1).astype(np.float64))[0]
    drawn = redraw(table, gaps, seed=seed, draws=draws)
    estimates = [
        Estimate(float(p), interval(drawn[:, i], table.groups)) for i, p in enumerate(points)
    ]
    return Gap(estimates[0], estimates[1] if by_language else None)


def contrast(
    run: ScoredRun, by: str, one: str, other: str, *, seed: int = 0, draws: int = DRAWS
) -> Estimate | None:
    """The macro-F1 of the records with the value `one` less that of those with `other`; null where
    a side is small.
    """
    pairs = _pairs(run.trait(by).filter(pl.col("value").is_in([one, other])))
    answers = run.answers
    counts = _tables(answers, pairs)
    if len(pairs.names) < 2 or not _whole(counts).all():
        return None
    sign = 1.0 if pairs.names[0] == one else -1.0
    table = kinds(
        answers.cluster[pairs.row],
        pairs.value * answers.cells + answers.cell[pairs.row],
        counts.size,
    )

    def less(flat: Floats) -> Floats:
        f1 = macro_f1(flat.reshape(-1, *counts.shape))
        return np.asarray(sign * (f1[:, 0] - f1[:, 1]))

    point = float(less(counts.reshape(1, -1).astype(np.float64))[0])
    return Estimate(point, interval(redraw(table, less, seed=seed, draws=draws), table.groups))


def _pairs(values: Values) -> _Pairs:
    names = values["value"].unique().sort()
    number = values["value"].replace_strict(
        names, pl.Series(range(len(names)), dtype=pl.Int64), return_dtype=pl.Int64
    )
    return _Pairs(
        values["row"].cast(pl.Int64).to_numpy(), number.to_numpy().astype(np.int64), names.to_list()
    )


def _tables(answers: Answers, pairs: _Pairs) -> Ints:
    k = len(answers.classes)
    place = pairs.value * answers.cells + answers.cell[pairs.row]
    flat = np.bincount(place, minlength=len(pairs.names) * answers.cells)
    return flat.reshape(len(pairs.names), k, k + 2)


def _big(counts: Ints) -> npt.NDArray[np.bool_]:
    """Cells with records enough, and no class that is there in a handful only."""
    sizes = counts.sum(axis=2)
    return np.asarray(
        (sizes.sum(axis=1) >= SMALLEST) & ~((sizes > 0) & (sizes < SMALLEST_CLASS)).any(axis=1)
    )


def _whole(counts: Ints) -> npt.NDArray[np.bool_]:
    """Cells that hold every class, and an answer: only their macro-F1 can be compared with that of
    the whole.
    """
    spoke = counts[:, :, :-1].sum(axis=(1, 2)) > 0
    return np.asarray(_big(counts) & spoke & (counts.sum(axis=2) >= SMALLEST_CLASS).all(axis=1))


def _groups(answers: Answers, pairs: _Pairs) -> list[int]:
    """How many groups have records with each value."""
    many = int(answers.cluster.max(initial=0)) + 1
    both = np.sort(pairs.value * many + answers.cluster[pairs.row])
    fresh = np.diff(both, prepend=-1) > 0
    return [int(n) for n in np.bincount(both[fresh] // many, minlength=len(pairs.names))]


def _cell(
    answers: Answers, value: str, groups: int, table: Ints, f1s: Floats, shares: Floats
) -> Cell:
    sizes = table.sum(axis=1)
    absent = [c for c, n in zip(answers.classes, sizes, strict=True) if not n]
    held = [c for c, n in zip(answers.classes, sizes, strict=True) if n]
    spoke, why = bool(table[:, :-1].sum()), None
    if not spoke:
        why = f"{UNANSWERED[0].upper()}{UNANSWERED[1:]}."
    elif absent:
        why = (
            f"All are {held[0]}: accuracy is its recall."
            if len(held) == 1
            else f"It holds no {', '.join(absent)}."
        )
    return Cell(
        value=value,
        n=int(sizes.sum()),
        groups=groups,
        classes={c: int(n) for c, n in zip(answers.classes, sizes, strict=True)},
        failed=int(table[:, -1].sum()),
        accuracy=float(accuracy(table)) if spoke else None,
        accuracy_interval=interval(shares, groups) if spoke else None,
        macro_f1=float(macro_f1(table)) if spoke and not absent else None,
        macro_f1_interval=interval(f1s, groups) if spoke and not absent else None,
        why=why,
    )


def _ordered(cells: list[Cell], by: str) -> tuple[list[Cell], list[int]]:
    """Times in their order, everything else the largest first; and where each cell was before."""
    in_time = by in ("year", "month")
    order = sorted(
        range(len(cells)),
        key=lambda i: cells[i].value if in_time else (-cells[i].n, cells[i].value),
    )
    return [cells[i] for i in order], order


def _mean(cells: list[Cell], f1s: Floats, groups: int) -> Estimate | None:
    fit = [i for i, c in enumerate(cells) if c.macro_f1 is not None]
    if len(fit) < 2:
        return None
    value = float(np.mean([cells[i].macro_f1 for i in fit]))
    return Estimate(value, interval(_known_mean(f1s[:, fit]), groups))


def _known_mean(f1s: Floats) -> Floats:
    """Mean over the cells that a resample holds; NaN when it holds none."""
    known = ~np.isnan(f1s)
    size = known.sum(axis=1)
    total = np.where(known, f1s, 0.0).sum(axis=1)
    return np.asarray(np.where(size > 0, total / np.maximum(size, 1), np.nan))
