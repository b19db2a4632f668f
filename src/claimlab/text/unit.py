"""The unit of scored records: what the split held out, or else the column `group`.

A split that holds out publishers asks how well a detector does on new publishers, so publishers are
resampled. One in time asks about other days: neighbouring days are alike, so whole stretches of
time are resampled, as long as the errors of neighbouring days go together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.errors import UnknownName
from claimlab.core.stats.scores import Flags, Ints
from claimlab.core.types import Json
from claimlab.text.roles import NUMBERED, role_values

GROUP, TIME = "group", "time"
# What a strategy of `claimlab split` holds out. Languages, families and datasets are strata that
# the question fixes, and no sample of others.
HELD_OUT = {"source": "source", "domain": "domain", "event": GROUP, "time": TIME}
STRATA = ("language", "kind", "authorship", "dataset", "task", "split", "platform")
MOST_PERIODS = 200  # into which a span of time is cut: a day each, or more


@dataclass(frozen=True)
class Unit:
    """A column whose values are units, or time in stretches of so many `periods`; `named`: by the
    user."""

    column: str = GROUP
    periods: int = 0  # 0: not known yet
    named: bool = False


def held_out(parameters: Mapping[str, Json]) -> str | None:
    """The column that a split held out, by the parameters in its lineage; null where it held out
    none."""
    by = parameters.get("by")
    strategies = [by] if isinstance(by, str) else by if isinstance(by, list) else []
    for strategy in strategies:
        if strategy == "column" and isinstance(column := parameters.get("column"), str):
            return None if column in STRATA else column
        if strategy in HELD_OUT:
            return HELD_OUT[str(strategy)]
    return None


def unit_names(records: pl.DataFrame, unit: Unit) -> pl.Series:
    """The unit of each record by name, alike in every run on these records; a record without a
    value is a unit by itself."""
    values = unit_values(records, unit)
    if values is None:
        values = records[GROUP]
    named = pl.format("{} {}", pl.lit(unit.column), values.cast(pl.String))
    alone = pl.format("record {}", "id")
    return records.select(pl.when(values.is_not_null()).then(named).otherwise(alone)).to_series()


def unit_values(records: pl.DataFrame, unit: Unit) -> pl.Series | None:
    """The values of the unit's column; null where the records do not have it."""
    if unit.column == TIME:
        days = days_of(records)
        return None if days is None else periods(days) // max(1, unit.periods)
    if (values := role_values(records, unit.column)) is not None:
        return values
    try:
        return column_values(records, unit.column).cast(pl.String)
    except UnknownName:
        if unit.named:
            raise
        return None


def days_of(records: pl.DataFrame) -> pl.Series | None:
    """The day of each record since 1970; null where all are of one day."""
    numbered = f"{NUMBERED}{TIME}"
    days = records[numbered] if numbered in records.columns else records["date"].dt.epoch("d")
    return days if days.drop_nulls().n_unique() > 1 else None


def periods(days: pl.Series) -> pl.Series:
    """The number of the period of each day: days, or longer where the span is many of them."""
    first, last = days.min(), days.max()
    assert isinstance(first, int)
    assert isinstance(last, int)
    return (days - first) // max(1, -(-(last - first + 1) // MOST_PERIODS))


def stretch(period: Ints, right: Flags) -> int:
    """How many periods a stretch has: twice the first lag at which the accuracies of periods no
    longer go together, so that what is alike lies within stretches more than across their borders.
    """
    names, at = np.unique(period, return_inverse=True)
    n = np.bincount(at)
    centred = np.bincount(at, weights=right) / n - right.mean()
    span = int(names[-1] - names[0]) + 1
    for lag in range(1, span):
        later = np.searchsorted(names, names + lag)
        pair = later < len(names)
        pair[pair] = names[later[pair]] == (names + lag)[pair]
        weight = np.sqrt(n[pair] * n[later[pair]])
        if (weight * centred[pair] * centred[later[pair]]).sum() <= 0:
            return min(2 * lag, span)
    return span
